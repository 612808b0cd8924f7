-- One switch between clients and server. Power and price of switches stand outside the node.
return {
  kind = "network",
  name = "NVIDIA SN3700, ports of 200 Gbit/s",
  hops = { 1, source = "clients and server in one rack" },
  cable_latency = { "15ns", source = "assumed: 3 m at 5 ns a metre, two thirds of the speed of light" },
  switch_latency = { "425ns", source = "from memory, not looked up: NVIDIA, Spectrum SN3000 data sheet: 425 ns in cut-through mode" },
  link_rate = { "200Gbps", source = "NVIDIA, Spectrum SN3000 data sheet: 200GbE ports" },
}
