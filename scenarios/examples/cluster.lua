-- A cluster of Mega-KV nodes under an open load, at nine tenths of what its nodes serve. Nodes share nothing, so that
-- each is simulated in a process of its own (docs/clusters.md).
return {
  system = { kind = "megakv", cycle = "160us", index = "16MiB" },
  cluster = { nodes = 4, multiget = 20 },
  workload = {
    keys = 4e6, key = 8, value = 8, get = 0.95, set = 0.05, dist = "uniform",
    arrival = { poisson_mops = 4 * 120 },
  },
  run = { warmup = "2ms", duration = "3ms", replicas = 2 },
}
