-- Figure 14: memory accesses with the load dispatcher at a ratio of 0.5 and without it, by share of reads.
return {
  name = "kvdirect-fig14",
  system = { kind = "kvdirect", memory = "64GiB", idle_power = "87W", dispatch = 0.5 },
  workload = { keys = 3.4e9, key = 8, value = 2, set = 0, dist = { zipf = 0.99 }, arrival = "saturate" },
  run = { functional = "sampled", sample_rate = 512, warmup = "200us", duration = "1ms" },
  sweep = { ["workload.set"] = { 0, 0.05, 0.5, 1 }, ["system.dispatch"] = { 0, 0.5 } },
}
