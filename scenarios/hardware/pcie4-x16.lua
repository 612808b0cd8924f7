-- The link between host and a card of PCIe 4.0, such as A100, L4 or L40S.
local published = "github.com/jdh4/della-gpu-A100, NVIDIA's bandwidthTest on an A100, pinned memory, 1 GB: "
return {
  kind = "pcie",
  name = "PCIe 4.0 x16",
  h2d = { "25.9GB/s", source = published .. "25.9 GB/s" },
  d2h = { "25.8GB/s", source = published .. "25.8 GB/s" },
  latency = { "7.5us", source = "derived: as pcie5-x16, because the time is the driver's, not the wire's; 7 % more than an H100's" },
}
