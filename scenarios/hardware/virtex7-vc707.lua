-- The board that carries BlueCache's card. Fact ids are of Xu et al., BlueCache, PVLDB 10(4), 2016.
return {
  kind = "fpga",
  name = "Xilinx VC707, Virtex-7 XC7VX485T",
  clock = { "125MHz", source = "the authors' program (github.com/xushuotao/fpgamemcached): constraints of the user clock" },
  dram = { "1GB", source = "bluecache.hw.fpga.dram" },
  dram_rate = { "12.8GB/s", source = "bluecache.hw.dram.seq" },
  dram_latency = { "50ns", source = "bluecache.hw.dram.rand: 64 bytes at 1.28 GB/s" },
  power = { "30W", source = "Jun et al., BlueDBM, ISCA 2015, table 3: VC707 board" },
}
