-- The link between host and Tesla K20c, a card of PCIe 2.0.
return {
  kind = "pcie",
  name = "PCIe 2.0 x16 to Tesla K20c",
  h2d = { "6.0387GB/s", source = "published run of NVIDIA's bandwidthTest on a K20c, pinned memory" },
  d2h = { "6.5535GB/s", source = "published run of NVIDIA's bandwidthTest on a K20c, pinned memory" },
  latency = { "6.8us", source = "derived: launch and two copies take 22.1 us on a K40c (megakv.sched.bS.875), in the H200's proportion of 9.3 to two times 7.5 us" },
}
