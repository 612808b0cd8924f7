-- The link between host and Tesla K40c.
return {
  kind = "pcie",
  name = "PCIe 3.0 to Tesla K40c",
  h2d = { "10.3GB/s", source = "megakv.hw.gpu.k40c.h2d: VLDB J. 26(5) sec. 8.1" },
  d2h = { "10.3GB/s", source = "megakv.hw.gpu.k40c.d2h: VLDB J. 26(5) sec. 8.1" },
  latency = { "1.05us", source = "kvdirect.hw.pcie.noncached_read: KV-Direct, SOSP 2017, sec. 2.4, one random DMA read" },
}
