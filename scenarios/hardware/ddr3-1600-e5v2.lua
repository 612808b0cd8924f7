-- Memory of one socket of Mega-KV's servers. Fact ids are of Zhang et al., VLDB J. 26(5), 2017.
-- The paper names no module. The profile takes Samsung's 8 GB registered module of 2 Gbit chips, and each of the four
-- channels has two.
local jedec = "JEDEC JESD79-3F, DDR3-1600 11-11-11 (clock of 1.25 ns): "
local samsung = "Samsung M393B1K70DH0-CK0, serial presence detect: "
return {
  kind = "dram",
  name = "8x 8 GB DDR3-1600 at Xeon E5-2650 v2",
  random_line = { "76ns", source = "megakv.hw.cpu.random_access: sec. 2.1.2, Fig. 2" },
  next_line = { "10.333ns", source = "(231 - 76) / 15 ns: megakv.hw.cpu.seq16_access and random_access, sec. 2.1.2, Fig. 2" },
  line = { 64, source = "megakv.hw.cpu.cacheline: sec. 2.1.2" },
  idle_power = { "0W", source = "part of the power of the whole idle node, which alone is published: kvdirect.power.idle, 87 W with two such processors, Li et al., SOSP 2017; see node.power" },
  busy_power = { "22.1W", source = "derived: 4 channels of 12.8 GB/s at the 432 mW for each GB/s that Intel stated of DDR3 modules at IDF 2011 (clubic.com 446928: 4.6 W at 10.7 GB/s); an upper bound, because their static part is in the idle node" },
  channels = { 4, source = "Intel ARK, Xeon E5-2650 v2: 4 memory channels" },
  ranks = { 4, source = "megakv.hw.cpu.dimms_per_socket: 8 modules on 4 channels; " .. samsung .. "2 ranks" },
  banks = { 8, source = jedec .. "8 banks" },
  transfers = { 1600e6, source = "megakv.hw.cpu.ddr3: sec. 8.1 (the 59.7 GB/s of megakv.hw.cpu.membw need DDR3-1866)" },
  bus = { 8, source = "JEDEC JESD79-3F and module: 64 bits besides ECC" },
  write_queue = { 32, source = "Intel 327043-001, Xeon E5-2600 Uncore Performance Monitoring Guide: WPQ_OCCUPANCY, at most 32; that half of it is drained at once is assumed (gem5's controllers drain at least 16)" },
  tRC = { "48.75ns", source = jedec .. "tRC" },
  tRC_write = { "57.5ns", source = jedec .. "tRCD 13.75 + CWL 10 + burst 5 + tWR 15 + tRP 13.75 ns" },
  tRRD = { "6.25ns", source = jedec .. "6 ns for pages of 1 KB, in whole clocks" },
  tFAW = { "30ns", source = jedec .. "pages of 1 KB" },
  tCL = { "13.75ns", source = jedec .. "tAA" },
  tWTR = { "7.5ns", source = jedec .. "tWTR" },
  tRTW = { "2.5ns", source = jedec .. "read to write command RL + tCCD + 2 tCK - WL leaves 2 clocks between the data" },
  tRTRS = { "2.5ns", source = "assumed: 2 clocks, as in gem5's DDR3_1600; JEDEC leaves it to the controller" },
  tRFC = { "160ns", source = jedec .. "chips of 2 Gbit; " .. samsung .. "512M x 4" },
  tREFI = { "7.8us", source = jedec .. "up to 85 degrees" },
}
