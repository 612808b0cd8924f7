-- Figure 16: throughput of the cluster by scheduling cycle, with 95 % GETs. For 100 % GETs use --set workload.get=1
-- --set workload.set=0.
return {
  name = "megakv-fig16",
  system = { kind = "megakv", cycle = "160us", api = "getk" },
  cluster = { nodes = 4 },
  workload = { preset = "megakv-a", keys = 1600e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 },
               arrival = "saturate", clients_for = "socket" },
  run = { functional = "sampled", sample_memory = "256MiB", duration = "10ms" },
  sweep = { ["system.cycle"] = { "120us", "140us", "160us", "200us", "240us", "280us", "320us" } },
}
