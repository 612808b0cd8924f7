-- DDR5-4800 in 12 channels of two subchannels, as AMD EPYC 9654 has them, with one module of two ranks each.
-- Power and price of the modules are not published in their data sheets.
local clock = 2e3 / 4800
local jedec = "Samsung, DDR5 UDIMM data sheet Rev. 1.0, 2021, speed bin DDR5-4800B 40-39-39, CWL = CL - 2: "
local gem5 = "gem5, DDR5 interfaces after Micron's DDR5 SDRAM core data sheet: "
local function ns(time) return ("%.4gns"):format(time) end
return {
  kind = "dram",
  name = "12 channels of DDR5-4800",
  random_line = { "112.9ns", source = "github.com/InstLatx64/InstLatx64, AuthenticAMD0A10F81_K19_StormPeak_01_NewMemLat.txt: memory, random in full, on a Threadripper PRO 7995WX, the same dies" },
  next_line = { "2.45ns", source = "github.com/InstLatx64/InstLatx64, AuthenticAMD0A10F81_K19_StormPeak_01_NewMemLat.txt: memory, linear forward, on a Threadripper PRO 7995WX, the same dies" },
  line = { 64, source = "cache line of x86-64" },
  channels = { 24, source = "AMD EPYC 9654: 12 channels; JEDEC JESD79-5: two subchannels each" },
  ranks = { 2, source = "assumed: one module of two ranks" },
  banks = { 32, source = gem5 .. "8 groups of 4 banks" },
  transfers = { 4800e6, source = jedec .. "transfers a second" },
  bus = { 4, source = gem5 .. "32 bits of a subchannel" },
  write_queue = { 32, source = "assumed: as ddr3-1600-e5v2" },
  tRC = { ns(32 + 39 * clock), source = jedec .. "tRP 39 clocks; " .. gem5 .. "tRAS 32 ns" },
  tRC_write = { ns(39 * clock + 38 * clock + 8 * clock + 30 + 39 * clock), source = jedec .. "tRCD and tRP 39 clocks, CWL 38, burst 8; " .. gem5 .. "tWR 30 ns" },
  tRRD = { ns(8 * clock), source = gem5 .. "8 clocks, other bank group" },
  tFAW = { ns(math.max(32 * clock, 10)), source = gem5 .. "32 clocks, at least 10 ns" },
  tCL = { ns(40 * clock), source = jedec .. "CL 40 clocks" },
  tWTR = { ns(math.max(4 * clock, 2.5)), source = gem5 .. "4 clocks, at least 2.5 ns, other bank group" },
  tRTW = { ns(2 * clock), source = gem5 .. "2 clocks between the data" },
  tRTRS = { ns(2 * clock), source = "assumed: 2 clocks, as gem5's DDR3_1600; JEDEC leaves it to the controller" },
  tRFC = { "295ns", source = gem5 .. "16 Gbit" },
  tREFI = { "3.9us", source = gem5 .. "up to 85 degrees" },
}
