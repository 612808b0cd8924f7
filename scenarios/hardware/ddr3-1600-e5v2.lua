-- Memory of one socket of Mega-KV's servers as one core sees it. Fact ids are of Zhang et al., VLDB J. 26(5), 2017.
return {
  kind = "dram",
  name = "8x 8 GB DDR3-1600 at Xeon E5-2650 v2",
  random_line = { "76ns", source = "megakv.hw.cpu.random_access: sec. 2.1.2, Fig. 2" },
  next_line = { "10.333ns", source = "(231 - 76) / 15 ns: megakv.hw.cpu.seq16_access and random_access, sec. 2.1.2, Fig. 2" },
  line = { 64, source = "megakv.hw.cpu.cacheline: sec. 2.1.2" },
  bandwidth = { "59.7GB/s", source = "megakv.hw.cpu.membw: sec. 8.1 (four channels of DDR3-1600 would give 51.2)" },
}
