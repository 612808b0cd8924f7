-- Figure 14: memory accesses by share of reads, without the load dispatcher and with a dispatch ratio of 0.5.
return {
  name = "kvdirect-fig14",
  system = { kind = "kvdirect", memory = "64GiB", idle_power = "87W", dispatch = 0.5 },
  workload = { keys = 3.4e9, key = 8, value = 2, set = 0, dist = { zipf = 0.99 }, arrival = "saturate" },
  run = { functional = "sampled", sample_rate = 2048, duration = "1ms" },
  sweep = { ["workload.set"] = { 0, 0.05, 0.5, 1 }, ["system.dispatch"] = { 0, 0.5 } },
}
