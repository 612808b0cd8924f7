-- One switch between clients and server. Power and price of switches stand outside the node.
return {
  kind = "network",
  name = "Arista 7060X6-64PE, ports of 800 Gbit/s",
  hops = { 1, source = "clients and server in one rack" },
  cable_latency = { "15ns", source = "assumed: 3 m at 5 ns a metre, two thirds of the speed of light" },
  switch_latency = { "700ns", source = "from memory, not looked up: Arista, 7060X6 Series data sheet: from 700 ns in cut-through mode" },
  link_rate = { "800Gbps", source = "Arista, 7060X6 Series data sheet: 800GbE ports" },
}
