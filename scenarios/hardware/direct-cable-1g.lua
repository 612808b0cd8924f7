-- Two adapters of 1 Gbit/s and a cable of copper between them.
return {
  kind = "network",
  name = "direct cable of 1 Gbit/s, 1000BASE-T",
  hops = { 0, source = "no switch; BlueCache's paper does not say how its servers were connected" },
  cable_latency = { "0.343us", source = "IEEE 802.3, 40.11: the PHYs of both ends take at most 84 and 244 bit times, 0.328 us; assumed: 3 m of cable at 5 ns a metre" },
  link_rate = { "1Gbps", source = "IEEE 802.3ab, 1000BASE-T" },
}
