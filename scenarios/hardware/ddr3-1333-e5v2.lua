-- Memory of one socket of KV-Direct's server. Fact ids are of Li et al., KV-Direct, SOSP 2017.
-- Table 4 there measures 60.3 GB/s in order on one socket, more than four channels of the modules that sec. 5 names
-- can transfer (42.7 GB/s). The profile follows the modules.
local jedec = "JEDEC JESD79-3F, DDR3-1333 9-9-9 (clock of 1.5 ns): "
local samsung = "Samsung M393B1K70DH0-CH9, serial presence detect: "
return {
  kind = "dram",
  name = "8x 8 GiB DDR3-1333 at Xeon E5-2650 v2",
  random_line = { "82.2ns", source = "kvdirect.t4.lat.local0.idle: Table 4" },
  next_line = { "10.333ns", source = "not published; megakv.hw.cpu.seq16_access and random_access: the same processor with DDR3-1600, Zhang et al., VLDB J. 26(5), 2017" },
  line = { 64, source = "kvdirect.hw.cpu.rand_rate: 64-byte lines, sec. 2.2" },
  channels = { 4, source = "kvdirect.hw.server.channels: 8 of two sockets, sec. 5.2.5" },
  ranks = { 4, source = "kvdirect.hw.server.dimms: 8 modules on 4 channels, sec. 5; " .. samsung .. "2 ranks (which of Samsung's 8 GiB modules is not published)" },
  banks = { 8, source = jedec .. "8 banks" },
  transfers = { 4000e6 / 3, source = "kvdirect.hw.server.ddr3: sec. 5" },
  bus = { 8, source = "JEDEC JESD79-3F and module: 64 bits besides ECC" },
  write_queue = { 32, source = "Intel 327043-001, Xeon E5-2600 Uncore Performance Monitoring Guide: WPQ_OCCUPANCY, at most 32; that half of it is drained at once is assumed (gem5's controllers drain at least 16)" },
  tRC = { "49.5ns", source = jedec .. "tRC" },
  tRC_write = { "58.5ns", source = jedec .. "tRCD 13.5 + CWL 10.5 + burst 6 + tWR 15 + tRP 13.5 ns" },
  tRRD = { "6ns", source = jedec .. "pages of 1 KB" },
  tFAW = { "30ns", source = jedec .. "pages of 1 KB" },
  tCL = { "13.5ns", source = jedec .. "tAA" },
  tWTR = { "7.5ns", source = jedec .. "tWTR" },
  tRTW = { "3ns", source = jedec .. "read to write command RL + tCCD + 2 tCK - WL leaves 2 clocks between the data" },
  tRTRS = { "3ns", source = "assumed: 2 clocks, as in gem5's DDR3_1600; JEDEC leaves it to the controller" },
  tRFC = { "160ns", source = jedec .. "chips of 2 Gbit; " .. samsung .. "512M x 4" },
  tREFI = { "7.8us", source = jedec .. "up to 85 degrees" },
}
