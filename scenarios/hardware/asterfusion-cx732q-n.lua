-- One switch between clients and server. Power and price of switches stand outside the node.
return {
  kind = "network",
  name = "Asterfusion CX732Q-N, ports of 400 Gbit/s",
  hops = { 1, source = "clients and server in one rack" },
  cable_latency = { "15ns", source = "assumed: 3 m at 5 ns a metre, two thirds of the speed of light" },
  switch_latency = { "500ns", source = "cloudswit.ch (Asterfusion), How to Choose the Perfect 32 ports 400G Switch: about 500 ns" },
  link_rate = { "400Gbps", source = "cloudswit.ch (Asterfusion), How to Choose the Perfect 32 ports 400G Switch: 400GbE ports" },
}
