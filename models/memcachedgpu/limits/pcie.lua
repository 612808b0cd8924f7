-- Slow copies to the card limit a server without GPUDirect.
return {
  name = "pcie copy_in pcie",
  system = { kind = "memcachedgpu", entries = 4e5, batch = 64, receive = "host" },
  node = { pcie = { base = "pcie2-x16-k20c", h2d = "200MB/s" } },
  workload = { keys = 1e5, key = 16, value = 2, get = 1, set = 0, arrival = "saturate" },
  run = { warmup = "20ms", duration = "50ms" },
}
