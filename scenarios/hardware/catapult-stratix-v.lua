-- The programmable part of KV-Direct's card. Fact ids are of Li et al., KV-Direct, SOSP 2017.
return {
  kind = "fpga",
  name = "Intel Stratix V with one channel of DDR3-1600",
  clock = { "180MHz", source = "kvdirect.hw.fpga.clock: one operation a clock, sec. 4" },
  dram = { "4GiB", source = "kvdirect.hw.nic.dram: sec. 2.4, 3.3.4, 4" },
  dram_rate = { "12.8GB/s", source = "kvdirect.hw.nic.dram_bw: sec. 2.4, 3.3.4" },
  dram_latency = { "41.25ns", source = "JESD79-3, DDR3-1600 11-11-11: precharge, activate and column access, 13.75 ns each" },
  power = { "29.2W", source = "Caulfield et al., A Cloud-Scale Acceleration Architecture, MICRO 2016, sec. II: the card under a power virus" },
}
