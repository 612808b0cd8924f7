-- One switch between clients and server. Power and price of switches stand outside the node.
return {
  kind = "network",
  name = "Arista 7060DX4-32, ports of 400 Gbit/s",
  hops = { 1, source = "clients and server in one rack" },
  cable_latency = { "15ns", source = "assumed: 3 m at 5 ns a metre, two thirds of the speed of light" },
  switch_latency = { "825ns", source = "from memory, not looked up: Arista, 7060X4 Series data sheet: from 825 ns in cut-through mode" },
  link_rate = { "400Gbps", source = "Arista, 7060X4 Series data sheet: 400GbE ports" },
}
