-- One top-of-rack switch between clients and server.
return {
  kind = "network",
  name = "Arista 7050QX, ports of 40 Gbit/s",
  hops = { 1, source = "clients and server in one rack" },
  cable_latency = { "15ns", source = "assumed: 3 m at 5 ns a metre, two thirds of the speed of light" },
  switch_latency = { "550ns", source = "Arista, 7050X Series data sheet: from 550 ns in cut-through mode" },
  link_rate = { "40Gbps", source = "Arista, 7050X Series data sheet: 40GbE QSFP+ ports" },
}
