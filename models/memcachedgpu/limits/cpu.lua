-- Slow post threads cannot answer faster.
return {
  name = "cpu answer cpu",
  system = { kind = "memcachedgpu", entries = 4e5, batch = 64 },
  node = { memcachedgpu_costs = { base = "memcachedgpu-costs-h200", answer = "1us" } },
  workload = { keys = 1e5, key = 16, value = 2, get = 1, set = 0, arrival = "saturate" },
  run = { warmup = "20ms", duration = "50ms" },
}
