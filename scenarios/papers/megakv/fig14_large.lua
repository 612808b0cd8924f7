-- Figure 14: throughput of the cluster with data sets c and d. The requests are in local memory (sec. 8.1).
return {
  name = "megakv-fig14-large",
  system = { kind = "megakv", index = "2GiB", cycle_from = "launch", cycle = "160us", api = "getk", feed = "memory", slab = "32GiB" },
  cluster = { nodes = 4 },
  workload = { preset = "megakv-c", keys = 200e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 },
               arrival = "saturate", clients_for = "socket" },
  run = { functional = "sampled", sample_memory = "256MiB", duration = "10ms" },
  sweep = { ["workload.preset"] = { "megakv-c", "megakv-d" }, ["system.api"] = { "getk", "get" } },
}
