-- Figure 13: throughput of one node with the small data sets a and b.
return {
  name = "megakv-fig13",
  system = { kind = "megakv", index = "2GiB", cycle_from = "launch", cycle = "160us", api = "getk" },
  workload = { preset = { "megakv-a" }, keys = 400e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 },
               arrival = "saturate", clients_for = "socket" },
  run = { functional = "sampled", sample_memory = "256MiB", duration = "10ms" },
  sweep = {
    ["workload.preset"] = { "megakv-a", "megakv-b" },
    ["system.api"] = { "getk", "get" },
    ["workload.dist"] = { "uniform", "zipf" },
  },
}
