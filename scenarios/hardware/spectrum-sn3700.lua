-- The latency of the whole switch was found in no source, so that of its chip stands for it, a lower bound.
-- One switch between clients and server. Power and price of switches stand outside the node.
return {
  kind = "network",
  name = "NVIDIA SN3700, ports of 200 Gbit/s",
  hops = { 1, source = "clients and server in one rack" },
  cable_latency = { "15ns", source = "assumed: 3 m at 5 ns a metre, two thirds of the speed of light" },
  switch_latency = { "300ns", source = "Linley Newsletter, Spectrum-2 Debuts 200GbE, July 2017: 300 ns of the switch chip" },
  link_rate = { "200Gbps", source = "NVIDIA, Spectrum SN3000 data sheet: 200GbE ports" },
}
