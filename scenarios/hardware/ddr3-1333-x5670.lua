-- Memory of one socket of BlueCache's application server. Fact ids are of Xu et al., BlueCache, PVLDB 10(4), 2016.
-- Its modules are not published; six of 8 GiB are the 48 GB of the server (bluecache.bg_bench.app.dram).
local jedec = "JEDEC JESD79-3F, DDR3-1333 9-9-9 (clock of 1.5 ns): "
local molka = "Molka et al., PACT 2009, Xeon X5570 with DDR3-1333: "
return {
  kind = "dram",
  name = "3x 8 GiB DDR3-1333 at Xeon X5670",
  random_line = { "65.1ns", source = molka .. "latency of local memory" },
  next_line = { "10.333ns", source = "not published; megakv.hw.cpu.seq16_access and random_access: Xeon E5-2650 v2 with DDR3-1600, Zhang et al., VLDB J. 26(5), 2017" },
  line = { 64, source = "Intel 64 and IA-32 Architectures Optimization Reference Manual: lines of 64 bytes" },
  channels = { 3, source = "Intel ARK, Xeon X5670; six of two sockets carry the 64 GB/s of bluecache.t4.memcached.bw" },
  ranks = { 2, source = "assumed: one module of 2 ranks on each channel" },
  banks = { 8, source = jedec .. "8 banks" },
  transfers = { 4000e6 / 3, source = "Intel ARK, Xeon X5670: up to DDR3-1333" },
  bus = { 8, source = "JEDEC JESD79-3F and module: 64 bits besides ECC" },
  write_queue = { 32, source = "not published for this processor; Intel 327043-001, Xeon E5-2600 Uncore Performance Monitoring Guide: WPQ_OCCUPANCY, at most 32" },
  tRC = { "49.5ns", source = jedec .. "tRC" },
  tRC_write = { "58.5ns", source = jedec .. "tRCD 13.5 + CWL 10.5 + burst 6 + tWR 15 + tRP 13.5 ns" },
  tRRD = { "6ns", source = jedec .. "pages of 1 KB" },
  tFAW = { "30ns", source = jedec .. "pages of 1 KB" },
  tCL = { "13.5ns", source = jedec .. "tAA" },
  tWTR = { "7.5ns", source = jedec .. "tWTR" },
  tRTW = { "3ns", source = jedec .. "read to write command RL + tCCD + 2 tCK - WL leaves 2 clocks between the data" },
  tRTRS = { "3ns", source = "assumed: 2 clocks, as in gem5's DDR3_1600; JEDEC leaves it to the controller" },
  tRFC = { "160ns", source = jedec .. "chips of 2 Gbit" },
  tREFI = { "7.8us", source = jedec .. "up to 85 degrees" },
}
