-- The link between host and BlueField-3, which copies between their memories.
local spec = "PCI Express Base Specification 5.0: 32 GT/s, 16 lanes, 128b/130b; of a packet, 256 bytes are data and 26 are not, as kvdirect.hw.pcie.tlp_overhead"
local rate = ("%.1fGB/s"):format(32e9 * 16 / 8 * 128 / 130 * 256 / (256 + 26) / 1e9)
return {
  kind = "pcie",
  name = "PCIe 5.0 x16 of BlueField-3",
  h2d = { rate, source = spec .. "; that copies reach it is assumed" },
  d2h = { rate, source = spec .. "; that copies reach it is assumed" },
  latency = { "1.05us", source = "assumed, not published: as a read of host memory by KV-Direct's card, kvdirect.hw.pcie.cached_read and kvdirect.hw.pcie.noncached_extra" },
}
