-- One switch between clients and server. Power and price of switches stand outside the node.
return {
  kind = "network",
  name = "Asterfusion CX864E-N, ports of 800 Gbit/s",
  hops = { 1, source = "clients and server in one rack" },
  cable_latency = { "15ns", source = "assumed: 3 m at 5 ns a metre, two thirds of the speed of light" },
  switch_latency = { "560ns", source = "cloudswit.ch (Asterfusion), 800G AI Switch Architecture, April 2025: 560 ns" },
  link_rate = { "800Gbps", source = "cloudswit.ch (Asterfusion), 800G AI Switch Architecture, April 2025: 800GbE ports" },
}
