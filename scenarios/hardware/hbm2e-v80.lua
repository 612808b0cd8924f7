-- Memory of an FPGA card of today: two stacks of 16 pseudo channels, each with a controller that serves one access after
-- another, as the controller of BlueCache's card does. A random access then takes a row cycle.
local brief = "AMD, Alveo V80 product brief, 2024: "
local preset = "Ramulator 2 (github.com/CMU-SAFARI/ramulator2, HBM2.cpp), whose clocks are counted as 2 ns: "
return {
  kind = "dram",
  name = "32 GB HBM2e of Alveo V80",
  random_line = { "48ns", source = preset .. "nRAS 17 and nRP 7; BlueCache's measured random access is a row cycle, too" },
  next_line = { "2.5ns", source = "64 bytes at 25.6 GB/s" },
  line = { 64, source = "bluecache.idx.dram_word: 512 bits" },
  channels = { 32, source = "JEDEC JESD235: 8 channels of 2 pseudo channels in each of two stacks" },
  ranks = { 1, source = "JEDEC JESD235: no ranks" },
  banks = { 16, source = "JEDEC JESD235: 4 groups of 4 banks" },
  transfers = { 3.2e9, source = brief .. "820 GB/s over 32 pseudo channels of 64 bits" },
  bus = { 8, source = "JEDEC JESD235: 64 bits of a pseudo channel" },
  write_queue = { 32, source = "assumed; order does not matter to a controller that serves one at a time" },
  tRC = { "48ns", source = preset .. "nRAS 17 and nRP 7" },
  tRC_write = { "50.5ns", source = preset .. "nRCDWR 7, nCWL 2, nWR 8 and nRP 7; burst of 2.5 ns" },
  tRRD = { "4ns", source = preset .. "nRRDS 2" },
  tFAW = { "30ns", source = preset .. "nFAW 15" },
  tCL = { "14ns", source = preset .. "nCL 7" },
  tWTR = { "8ns", source = preset .. "nWTRL 4" },
  tRTW = { "6ns", source = preset .. "nRTW 3" },
  tRTRS = { "0ns", source = "there is one rank" },
  tRFC = { "350ns", source = preset .. "8 Gbit" },
  tREFI = { "3.9us", source = preset .. "nREFI 3900 ns" },
}
