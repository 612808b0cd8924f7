-- The link between host and GTX 750 Ti or GTX Titan, cards of PCIe 3.0. The i7-4770K has 16 lanes in all; whether another card took
-- half of them in MemcachedGPU's server is not published.
return {
  kind = "pcie",
  name = "PCIe 3.0 x16 to GeForce cards of 2013 and 2014",
  h2d = { "11.618GB/s", source = "published run of NVIDIA's bandwidthTest on a GTX 780 Ti, pinned memory" },
  d2h = { "12.91GB/s", source = "published run of NVIDIA's bandwidthTest on a GTX 780 Ti, pinned memory" },
  latency = { "6.8us", source = "as pcie2-x16-k20c.lua: the time is the driver's, not the wire's" },
}
