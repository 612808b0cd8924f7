-- The FPGA of memcached in hardware (Blott et al., HotCloud 2013), which MemcachedGPU compares with. Fact ids are of
-- Hetherington et al., SoCC 2015.
return {
  kind = "fpga",
  name = "Xilinx Virtex 6 SX475T",
  clock = { "156.25MHz", source = "IEEE 802.3ae: a datapath of 64 bits at 156.25 MHz carries 10 Gbit/s" },
  dram = { "24GB", source = "Istvan et al., A Hash Table for Line-Rate Data Processing, TRETS 8(2), 2015, abstract: 24 GB of DDR3" },
  dram_rate = { "12.8GB/s", source = "assumed: one channel of DDR3-1600; the paper says that memory matches the line rate (MemcachedGPU, sec. 5.6)" },
  dram_latency = { "41.25ns", source = "JESD79-3, DDR3-1600 11-11-11: precharge, activate and column access, 13.75 ns each" },
  power = { "0W", source = "not published for the card alone; memcachedgpu.t6.fpga.eff is of a whole system" },
  price = { 7100, source = "memcachedgpu.fpga.price: sec. 5.6, digikey.com, 2015: 7100 USD and more for the chip alone" },
}
