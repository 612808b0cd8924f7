-- A client that is connected to the server by a copper cable.
return {
  kind = "network",
  name = "direct cable of 40 Gbit/s, 3 m",
  hops = { 0, source = "no switch" },
  cable_latency = { "15ns", source = "assumed: 3 m at 5 ns a metre, two thirds of the speed of light" },
  link_rate = { "40Gbps", source = "IEEE 802.3ba, 40GBASE-CR4" },
}
