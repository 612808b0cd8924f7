-- A cluster that grows and fails: a node joins, and later another one fails, which clients notice after a millisecond.
-- Keys that move miss at their new nodes (docs/clusters.md).
return {
  system = { kind = "megakv", cycle = "160us", index = "16MiB" },
  cluster = {
    members = {
      { name = "two-socket", nodes = 2, weight = 2 },
      { name = "one-socket", nodes = 2, node = { sockets = 1 } },
    },
    changes = { { at = "2ms", join = 1 }, { at = "5ms", fail = 3, detect = "1ms" } },
  },
  workload = { keys = 2e6, key = 8, value = 8, get = 0.95, set = 0.05, arrival = { poisson_mops = 240 } },
  run = { warmup = "1ms", duration = "8ms" },
}
