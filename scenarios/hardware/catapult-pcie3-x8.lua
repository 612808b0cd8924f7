-- How KV-Direct's card reads and writes host memory. Fact ids are of Li et al., KV-Direct, SOSP 2017.
return {
  kind = "pcie",
  name = "two PCIe 3.0 x8 links of one card",
  endpoints = { 2, source = "kvdirect.hw.nic.pcie_links: sec. 4, 5" },
  generation = { 3, source = "kvdirect.hw.nic.pcie_links: sec. 4, 5" },
  lanes = { 8, source = "kvdirect.hw.nic.pcie_links: sec. 4, 5" },
  header = { 26, source = "kvdirect.hw.pcie.tlp_overhead: header and padding for 64-bit addresses, sec. 2.4, 4" },
  payload = { 256, source = "kvdirect.hw.pcie.max_payload: sec. 6.1" },
  tags = { 64, source = "kvdirect.hw.pcie.tags: sec. 2.4, 6.1" },
  read_credits = { 84, source = "kvdirect.hw.pcie.credits_nonposted: sec. 2.4" },
  write_credits = { 88, source = "kvdirect.hw.pcie.credits_posted: sec. 2.4" },
  read_latency = { "800ns", source = "kvdirect.hw.pcie.cached_read: sec. 2.4" },
  memory_latency = { "250ns", source = "kvdirect.hw.pcie.noncached_extra: mean, sec. 2.4; the shape is not in the text, taken as exponential" },
  credit_return = { "500ns", source = "kvdirect.hw.pcie.rtt: round trip, sec. 2.4" },
  core_reads = { 29.3e6, source = "kvdirect.hw.cpu.rand_rate: random 64-byte reads a second of a core, sec. 2.2" },
  root_rate = { "13.2GB/s", source = "kvdirect.hw.pcie.achievable_two: sec. 2.4 (sec. 3.3.4 says 14)" },
}
