-- The memory of NVIDIA's BlueField-3: DDR5-5600 of 128 bits, four subchannels. Power and price are those of the card, which are not
-- published apart.
local clock = 2e3 / 5600
local manual = "NVIDIA, BlueField-3 networking platform user guide, docs.nvidia.com/networking/display/bf3dpu, supported interfaces: "
local same_chips = "as ddr5-5600: "
local function ns(time) return ("%.4gns"):format(time) end
return {
  kind = "card_dram",
  name = "BlueField-3, 32 GB of DDR5-5600",
  random_line = { "131ns", source = "assumed, not published: as ddr5-5600, measured on Emerald Rapids" },
  next_line = { "9.461ns", source = "assumed, not published: as ddr5-5600, measured on Emerald Rapids" },
  line = { 64, source = "Arm, Cortex-A78 Core Technical Reference Manual: cache line" },
  capacity = { 32e9, source = manual .. "20 units of DDR5 for a total of 32 GB" },
  channels = { 4, source = manual .. "128 bits at 5600 MT/s; JEDEC JESD79-5: subchannels of 32 bits" },
  ranks = { 1, source = "assumed: 20 chips of 8 bits are one rank of 128 bits with 16 of ECC" .. " and some spare" },
  banks = { 32, source = same_chips .. "8 groups of 4 banks" },
  transfers = { 5600e6, source = manual .. "5200 or 5600 MT/s, by the model" },
  bus = { 4, source = "JEDEC JESD79-5: 32 bits of a subchannel" },
  write_queue = { 32, source = "assumed: as ddr5-5600" },
  tRC = { ns(32 + 45 * clock), source = same_chips .. "tRAS 32 ns and tRP 45 clocks" },
  tRC_write = { ns(45 * clock + 44 * clock + 8 * clock + 30 + 45 * clock), source = same_chips .. "tRCD, CWL, burst, tWR, tRP" },
  tRRD = { ns(8 * clock), source = same_chips .. "8 clocks" },
  tFAW = { ns(math.max(32 * clock, 10)), source = same_chips .. "32 clocks, at least 10 ns" },
  tCL = { ns(46 * clock), source = same_chips .. "46 clocks" },
  tWTR = { ns(math.max(4 * clock, 2.5)), source = same_chips .. "4 clocks, at least 2.5 ns" },
  tRTW = { ns(2 * clock), source = same_chips .. "2 clocks" },
  tRTRS = { ns(2 * clock), source = same_chips .. "2 clocks" },
  tRFC = { "295ns", source = same_chips .. "16 Gbit" },
  tREFI = { "3.9us", source = same_chips .. "up to 85 degrees" },
}
