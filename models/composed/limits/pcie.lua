-- Every request takes 512 bytes over a slow link to the card.
return {
  name = "pcie down pcie",
  system = {
    kind = "composed", pipelines = 2,
    batch = { count = 1024 },
    stages = {
      { name = "receive", on = "nic.rx" },
      { name = "down", on = "pcie.down", bytes = 512 },
      { name = "kernel", on = "gpu", ns = 0.1 },
      { name = "send", on = "nic.tx" },
    },
  },
  node = { gpu = "h200", pcie = { base = "pcie5-x16", h2d = "2GB/s" } },
  workload = { keys = 1e5, key = 16, value = 24, arrival = "saturate" },
  run = { duration = "40ms" },
}
