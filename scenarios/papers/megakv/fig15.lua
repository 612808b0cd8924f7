-- Figure 15: throughput of one to four nodes with uniform and skewed keys. The number of keys grows with the nodes. All
-- nodes receive what the hash ring gives them, so that the hottest one limits the throughput; a node counts as a whole.
-- Use the closed form (kvcast sweep --predict): hottest_socket_share_frac.
return {
  name = "megakv-fig15",
  system = { kind = "megakv", cycle = "160us", api = "getk" },
  node = { sockets = 1 },
  workload = { preset = "megakv-a", keys = 400e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 },
               arrival = "saturate" },
  run = { functional = "sampled", sample_memory = "256MiB", duration = "10ms" },
  sweep = { ["cluster.nodes"] = { 1, 2, 3, 4 }, ["workload.dist"] = { "uniform", "zipf" } },
}
