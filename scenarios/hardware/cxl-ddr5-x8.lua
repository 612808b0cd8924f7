-- Memory on a CXL card with eight lanes, as if all items lay there. Its timing is not published: the link is the limit. Power and
-- price are absent.
return {
  kind = "dram",
  name = "DDR5 behind CXL 2.0 x8",
  random_line = { "262ns", source = "Tang et al., Exploring and Evaluating Real-world CXL, arXiv:2405.14209: three cards take 2 to 5 times the time of local memory; the least, twice ddr5-5600's 131 ns" },
  next_line = { "9.461ns", source = "assumed: as ddr5-5600; prefetching hides the link" },
  line = { 64, source = "CXL 2.0: requests of 64 bytes" },
  bandwidth = { "29.65GB/s", source = "PCI Express Base Specification 5.0: 8 lanes of 32 GT/s, 128 of 130 bits; CXL 2.0: 64 of 68 bytes of a flit" },
}
