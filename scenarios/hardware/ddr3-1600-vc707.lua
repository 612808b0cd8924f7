-- Memory of BlueCache's card: one SODIMM whose controller serves one access after another. Fact ids are of Xu et al., BlueCache,
-- PVLDB 10(4), 2016.
return {
  kind = "dram",
  name = "1 GB DDR3-1600 at VC707",
  random_line = { "50ns", source = "bluecache.hw.dram.rand: 64 bytes at 1.28 GB/s, measured by the authors" },
  next_line = { "5ns", source = "bluecache.hw.dram.seq: 64 bytes at 12.8 GB/s, measured by the authors" },
  line = { 64, source = "bluecache.idx.dram_word: 512 bits" },
  bandwidth = { "12.8GB/s", source = "bluecache.hw.dram.seq" },
}
