-- Figure 3: 64-byte reads over one link, which 64 tags limit. Each GET reads one bucket, and no DRAM on the card
-- can serve it.
return {
  name = "kvdirect-fig03",
  system = { kind = "kvdirect", memory = "64MiB", index = 1, inline = 15, dispatch = 0 },
  node = { pcie = { base = "catapult-pcie3-x8", endpoints = 1 } },
  workload = { keys = 100e3, key = 8, value = 2, get = 1, set = 0, arrival = "saturate" },
  run = { duration = "2ms" },
  sweep = { ["node.pcie.tags"] = { 8, 16, 32, 64, 128, 256 } },
}
