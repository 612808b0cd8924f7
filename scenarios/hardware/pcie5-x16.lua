-- The link between host and H200.
local measured = "measured on one H200, 2026: "
return {
  kind = "pcie",
  name = "PCIe 5.0 x16",
  h2d = { "55GB/s", source = measured .. "large copies of pinned memory" },
  d2h = { "55GB/s", source = measured .. "large copies of pinned memory" },
  latency = { "7.5us", source = measured .. "small copies of pinned memory took 7 to 8 us" },
}
