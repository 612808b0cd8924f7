-- Post threads that wait for the items' lines limit the store.
return {
  name = "dram answer dram",
  system = { kind = "memcachedgpu", entries = 4e5, batch = 64 },
  node = { dram = { base = "ddr3-1600-i7-4770k", random_line = "2us" } },
  workload = { keys = 1e5, key = 16, value = 2, get = 1, set = 0, arrival = "saturate" },
  run = { warmup = "20ms", duration = "50ms" },
}
