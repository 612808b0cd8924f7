-- MemcachedGPU's client is connected to the server by two cables of copper. Fact ids are of Hetherington et al., SoCC 2015.
return {
  kind = "network",
  name = "direct cable of 10 Gbit/s, 10GBASE-T",
  hops = { 0, source = "memcachedgpu.wl.cables: no switch" },
  cable_latency = { "2.575us", source = "IEEE 802.3an: the PHYs of both ends take at most 25600 bit times, 2.56 us; assumed: 3 m of cable at 5 ns a metre" },
  link_rate = { "10Gbps", source = "IEEE 802.3an, 10GBASE-T; memcachedgpu.t1.client.nic" },
}
