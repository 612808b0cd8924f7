-- Memory of one socket of BlueCache's application server. Fact ids are of Xu et al., BlueCache, PVLDB 10(4), 2016.
-- Its modules are not published; six of 8 GiB are the 48 GB of the server (bluecache.bg_bench.app.dram).
local jedec = "JEDEC JESD79-3F, DDR3-1333 9-9-9 (clock of 1.5 ns): "
local molka = "Molka et al., PACT 2009, Xeon X5570 with DDR3-1333: "
return {
  kind = "dram",
  base = "ddr3-1333-e5v2",
  name = "3x 8 GiB DDR3-1333 at Xeon X5670",
  random_line = { "65.1ns", source = molka .. "latency of local memory" },
  next_line = { "10.333ns", source = "not published; megakv.hw.cpu.seq16_access and random_access: Xeon E5-2650 v2 with DDR3-1600, Zhang et al., VLDB J. 26(5), 2017" },
  line = { 64, source = "Intel 64 and IA-32 Architectures Optimization Reference Manual: lines of 64 bytes" },
  channels = { 3, source = "Intel ARK, Xeon X5670; six of two sockets carry the 64 GB/s of bluecache.t4.memcached.bw" },
  ranks = { 2, source = "assumed: one module of 2 ranks on each channel" },
  transfers = { 4000e6 / 3, source = "Intel ARK, Xeon X5670: up to DDR3-1333" },
  write_queue = { 32, source = "not published for this processor; Intel 327043-001, Xeon E5-2600 Uncore Performance Monitoring Guide: WPQ_OCCUPANCY, at most 32" },
  tRFC = { "160ns", source = jedec .. "chips of 2 Gbit" },
}
