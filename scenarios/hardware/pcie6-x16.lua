-- The link between host and a card of PCIe 6.0. No measurement is published.
local derived = "derived: the share of the link's rate that pcie5-x16 was measured to carry, 55 of 63.0 GB/s, of 118.0 GB/s (64 GT/s, 236 of 256 bytes of a flit)"
return {
  kind = "pcie",
  name = "PCIe 6.0 x16",
  h2d = { "103GB/s", source = derived },
  d2h = { "103GB/s", source = derived },
  latency = { "7.5us", source = "derived: as pcie5-x16, because the time is the driver's, not the wire's; 7 % more than an H100's" },
}
