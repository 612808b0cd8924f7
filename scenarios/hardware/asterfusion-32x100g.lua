-- One switch between clients and server. Power and price of switches stand outside the node.
return {
  kind = "network",
  name = "Asterfusion, 32 ports of 100 Gbit/s",
  hops = { 1, source = "clients and server in one rack" },
  cable_latency = { "15ns", source = "assumed: 3 m at 5 ns a metre, two thirds of the speed of light" },
  switch_latency = { "500ns", source = "cloudswit.ch (Asterfusion), Choosing the Right 32x100G Switch: Teralynx 7, as low as 500 ns" },
  link_rate = { "100Gbps", source = "cloudswit.ch (Asterfusion), Choosing the Right 32x100G Switch: 100GbE ports" },
}
