-- DDR5-6400 in 12 channels of two subchannels, as Intel Xeon 6980P has them, with one module of two ranks each.
-- Power and price of the modules are not published in their data sheets.
local clock = 2e3 / 6400
local jedec = "Micron, 16Gb DDR5 SDRAM die revision D data sheet Rev. F, 2024, table 2, DDR5-6400B 52-52-52: "
local gem5 = "gem5, DDR5 interfaces after Micron's DDR5 SDRAM core data sheet: "
local function ns(time) return ("%.4gns"):format(time) end
return {
  kind = "dram",
  base = "ddr5-4800",
  name = "12 channels of DDR5-6400",
  random_line = { "131ns", source = "as its predecessor: measured on Emerald Rapids, 2026-11-22: validate/measured/h200-pcie5/machine.lua, time per random line, one chain, 64 MiB and more" },
  next_line = { "9.461ns", source = "as its predecessor: measured on Emerald Rapids, 2026-11-22: validate/measured/h200-pcie5/machine.lua, whose straight line fits badly" },
  channels = { 24, source = "Intel Xeon 6980P: 12 channels; JEDEC JESD79-5: two subchannels each" },
  transfers = { 6400e6, source = jedec .. "transfers a second" },
  tRC = { ns(32 + 52 * clock), source = jedec .. "tRP 52 clocks; " .. gem5 .. "tRAS 32 ns" },
  tRC_write = { ns(52 * clock + 50 * clock + 8 * clock + 30 + 52 * clock), source = jedec .. "tRCD and tRP 52 clocks, CWL = CL - 2 as in Samsung's DDR5 UDIMM data sheet, burst 8; " .. gem5 .. "tWR 30 ns" },
  tRRD = { ns(8 * clock), source = gem5 .. "8 clocks, other bank group" },
  tFAW = { ns(math.max(32 * clock, 10)), source = gem5 .. "32 clocks, at least 10 ns" },
  tCL = { ns(52 * clock), source = jedec .. "CL 52 clocks" },
  tWTR = { ns(math.max(4 * clock, 2.5)), source = gem5 .. "4 clocks, at least 2.5 ns, other bank group" },
  tRTW = { ns(2 * clock), source = gem5 .. "2 clocks between the data" },
  tRTRS = { ns(2 * clock), source = "assumed: 2 clocks, as gem5's DDR3_1600; JEDEC leaves it to the controller" },
}
