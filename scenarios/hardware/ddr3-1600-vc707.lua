-- Memory of BlueCache's card: one SODIMM whose controller serves one access after another. Fact ids are of Xu et al., BlueCache,
-- PVLDB 10(4), 2016. The measured time of a random access is a row cycle; writes take theirs.
local jedec = "JEDEC JESD79-3F, DDR3-1600 11-11-11 (clock of 1.25 ns): "
local module = "Xilinx UG885, VC707: Micron MT8JTF12864HZ-1G6G1, one rank of 8 chips with 128M x 8: "
return {
  kind = "dram",
  name = "1 GB DDR3-1600 at VC707",
  random_line = { "50ns", source = "bluecache.hw.dram.rand: 64 bytes at 1.28 GB/s, measured by the authors" },
  next_line = { "5ns", source = "bluecache.hw.dram.seq: 64 bytes at 12.8 GB/s, measured by the authors" },
  line = { 64, source = "bluecache.idx.dram_word: 512 bits" },
  bandwidth = { "12.8GB/s", source = "bluecache.hw.dram.seq" },
  channels = { 1, source = module .. "one module" },
  ranks = { 1, source = module .. "one rank" },
  banks = { 8, source = jedec .. "8 banks" },
  transfers = { 1600e6, source = module .. "DDR3-1600" },
  bus = { 8, source = module .. "64 bits" },
  write_queue = { 32, source = "the authors' program: FIFOs of 32 accesses; order does not matter to a controller that serves one at a time" },
  tRC = { "48.75ns", source = jedec .. "tRC" },
  tRC_write = { "57.5ns", source = jedec .. "tRCD 13.75 + CWL 10 + burst 5 + tWR 15 + tRP 13.75 ns" },
  tRRD = { "6.25ns", source = jedec .. "6 ns for pages of 1 KB, in whole clocks" },
  tFAW = { "30ns", source = jedec .. "pages of 1 KB" },
  tCL = { "13.75ns", source = jedec .. "tAA" },
  tWTR = { "7.5ns", source = jedec .. "tWTR" },
  tRTW = { "2.5ns", source = jedec .. "read to write command RL + tCCD + 2 tCK - WL leaves 2 clocks between the data" },
  tRTRS = { "2.5ns", source = "assumed: 2 clocks; there is one rank" },
  tRFC = { "110ns", source = jedec .. "chips of 1 Gbit; " .. module .. "chips" },
  tREFI = { "7.8us", source = jedec .. "up to 85 degrees" },
}
