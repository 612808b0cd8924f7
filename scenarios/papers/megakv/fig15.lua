-- Figure 15: throughput of one to four nodes with uniform and skewed keys. The number of keys grows with the nodes. All
-- nodes receive their share of the hash ring, so that the fullest one limits the throughput; a node counts as a whole.
-- Read fullest_socket_over_mean: the cluster serves the nodes' capacities divided by it. All nodes are in one engine,
-- which compares them.
return {
  name = "megakv-fig15",
  system = { kind = "megakv", index = "2GiB", cycle_from = "launch", cycle = "160us", api = "getk" },
  node = { sockets = 1 },
  cluster = { simulate = "together" },
  workload = { preset = "megakv-a", keys = 400e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 },
               arrival = { fixed_mops = 100 } },
  run = { functional = "sampled", sample_memory = "16MiB", warmup = "auto", duration = "5ms" },
  sweep = { ["cluster.nodes"] = { 1, 2, 3, 4 }, ["workload.dist"] = { "uniform", "zipf" } },
}
