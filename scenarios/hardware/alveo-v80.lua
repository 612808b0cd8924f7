-- An FPGA card of today with PCIe 5.0 and network ports.
local brief = "AMD, Alveo V80 product brief, 2024: "
return {
  kind = "fpga",
  name = "AMD Alveo V80",
  clock = { "250MHz", source = "assumed: twice the clock of BlueCache on the Virtex-7" },
  dram = { "32GB", source = brief .. "32 GB of HBM2e" },
  dram_rate = { "25.6GB/s", source = brief .. "820 GB/s, one of 32 pseudo channels" },
  dram_latency = { "48ns", source = "as the row cycle of hbm2e-v80" },
  power = { "190W", source = brief .. "thermal design power; a design that uses less of the card draws less" },
  price = { 9495, source = "AMD, announcement of the Alveo V80, May 2024: 9495 USD" },
}
