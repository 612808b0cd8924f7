-- A cache smaller than its keys: CLOCK evicts, the hit ratio is an outcome.
return {
  name = "cache",
  system = { kind = "megakv", cycle = "200us", index = "64MiB", slab = "64MiB" },
  node = { sockets = 1 },
  workload = { keys = 8e6, get = 0.7, set = 0.3, dist = { zipf = 0.99 }, arrival = "saturate" },
  run = { duration = "50ms" },
}
