-- One socket of Mega-KV's servers. Fact ids are of Zhang et al., VLDB J. 26(5), 2017.
return {
  kind = "cpu",
  name = "Intel Xeon E5-2650 v2",
  cores = { 8, source = "megakv.hw.cpu.cores: sec. 8.1" },
  threads_per_core = { 2, source = "Intel ARK, Xeon E5-2650 v2: 8 cores, 16 threads" },
  clock = { "2.6GHz", source = "megakv.hw.cpu.clock: sec. 8.1" },
  packet = { "7ns", source = "megakv.bg.io_parse_cost: sec. 2.1.2, packet I/O and parsing per key with DPDK and Multiget" },
  llc_hit_cycles = { 30, source = "L3 latency of Ivy Bridge, measured on an i7-3770 (7-cpu.com/cpu/IvyBridge.html)" },
}
