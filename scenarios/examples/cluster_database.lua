-- A cluster of MICA nodes, each with a database of its own: a node joins and another fails, and keys that move come
-- back through the databases (docs/clusters.md).
return {
  system = { kind = "mica", buckets = 65536, log = "4MiB" },
  node = {
    sockets = 1,
    database = { base = "mysql-bg", read = "100us", latency = "50us" },
  },
  cluster = {
    nodes = 4,
    database = "per_node",
    changes = { { at = "10ms", join = 1 }, { at = "30ms", fail = 1 } },
  },
  workload = { keys = 20e3, key = 8, value = 100, get = 1, dist = "uniform", arrival = { poisson_mops = 2 } },
  run = { warmup = "10ms", duration = "50ms" },
}
