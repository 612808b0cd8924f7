-- Figure 17: latency distribution by scheduling cycle, at the largest speed that the cycle permits. It shows one node
-- of the cluster.
return {
  name = "megakv-fig17",
  system = { kind = "megakv", cycle = "160us", api = "getk" },
  workload = { preset = "megakv-a", keys = 400e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 },
               arrival = "saturate", clients_for = "socket" },
  run = { functional = "sampled", sample_memory = "256MiB", duration = "20ms" },
  sweep = { ["system.cycle"] = { "120us", "160us", "200us", "240us", "280us", "320us" } },
}
