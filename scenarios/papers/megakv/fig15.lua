-- Figure 15: throughput of one to four nodes with uniform and skewed keys. The number of keys grows with the nodes. One
-- set of clients serves all nodes, so that the hottest node limits the throughput.
return {
  name = "megakv-fig15",
  system = { kind = "megakv", cycle = "160us", api = "getk" },
  workload = { preset = "megakv-a", keys = 400e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 },
               arrival = "saturate" },
  run = { functional = "sampled", sample_memory = "256MiB", duration = "10ms" },
  sweep = { ["cluster.nodes"] = { 1, 2, 3, 4 }, ["workload.dist"] = { "uniform", "zipf" } },
}
