-- A cache that is smaller than its set of keys. CLOCK evicts items, and the hit ratio is a result of the simulation.
return {
  name = "cache",
  system = { kind = "megakv", cycle = "200us", index = "64MiB", slab = "64MiB" },
  node = { sockets = 1 },
  workload = { keys = 8e6, get = 0.7, set = 0.3, dist = { zipf = 0.99 },
               arrival = { poisson_mops = 40 } },
  run = { duration = "50ms" },
}
