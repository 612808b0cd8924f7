-- Figure 14: throughput of the cluster of four nodes with 8-byte keys and values, Zipf 0.99 and C = 160 us.
return {
  name = "megakv-fig14",
  system = { kind = "megakv", cycle = "160us", api = "getk" },
  cluster = { nodes = 4 },
  workload = { preset = "megakv-a", keys = 1600e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 },
               arrival = "saturate", clients_for = "socket" },
  run = { functional = "sampled", sample_memory = "256MiB", duration = "10ms" },
  sweep = { ["system.api"] = { "getk", "get" } },
}
