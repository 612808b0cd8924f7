-- Accesses of a GTX 780 to the memory of a Xeon E5-2650 v2 that is mapped into its addresses. Fact ids refer to Li et
-- al., KV-Direct, SOSP 2017, whose server has the same processor: times of the host and the form of packets hold for
-- any card in it.
local spec = "NVIDIA, specifications of the GeForce GTX 780, bus support: "
local measured = "published run of NVIDIA's bandwidthTest on a GTX 780 Ti, pinned memory: "
return {
  kind = "pcie",
  name = "PCIe 3.0 x16 between Xeon E5-2650 v2 and GTX 780",
  endpoints = { 1, source = spec .. "one connector" },
  generation = { 3, source = spec .. "PCI Express 3.0; that the driver sets it on this processor is assumed" },
  lanes = { 16, source = spec .. "x16" },
  header = { 26, source = "kvdirect.hw.pcie.tlp_overhead: header and padding for 64-bit addresses, sec. 2.4, 4" },
  payload = { 128, source = "assumed: a line of the GPU's caches, 128 bytes on Kepler (Kepler Tuning Guide), as the largest access of a warp" },
  tags = { 256, source = "PCI Express Base Specification 3.0, sec. 2.2.6.2: 8-bit tags; that the card uses all of them is assumed" },
  read_credits = { 168, source = "assumed: twice kvdirect.hw.pcie.credits_nonposted, because a port of 16 lanes joins two of 8" },
  write_credits = { 176, source = "assumed: likewise twice kvdirect.hw.pcie.credits_posted" },
  write_data_credits = { 880, source = "assumed: likewise twice those of catapult-pcie3-x8.lua" },
  completion_credits = { 2048, source = "PCI Express Base Specification 3.0, sec. 2.6.1: an endpoint grants infinite credits, so it has room for all it asks for: 256 tags of 128 bytes" },
  read_latency = { "800ns", source = "kvdirect.hw.pcie.cached_read: sec. 2.4; the way from a multiprocessor to the link is the access of the GPU's profile" },
  memory_latency = { "250ns", source = "kvdirect.hw.pcie.noncached_extra: mean, sec. 2.4" },
  credit_return = { "500ns", source = "kvdirect.hw.pcie.rtt: round trip, sec. 2.4" },
  core_reads = { 29.3e6, source = "kvdirect.hw.cpu.rand_rate: sec. 2.2; dido does not use it" },
  root_rate = { "11.618GB/s", source = measured .. "the slower direction, to the card" },
}
