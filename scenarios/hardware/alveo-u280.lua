-- An FPGA card with PCIe 4.0 and network ports, before the V80. No price is published by AMD.
local sheet = "from memory, not looked up: AMD, Alveo U280 data sheet DS963: "
return {
  kind = "fpga",
  name = "AMD Alveo U280",
  clock = { "250MHz", source = "assumed: twice the clock of BlueCache on the Virtex-7, as alveo-v80" },
  dram = { "8GB", source = sheet .. "8 GB of HBM2" },
  dram_rate = { "14.375GB/s", source = sheet .. "460 GB/s, one of 32 pseudo channels" },
  dram_latency = { "48ns", source = "as the row cycle of hbm2e-v80" },
  power = { "225W", source = sheet .. "maximum total power; a design that uses less of the card draws less" },
}
