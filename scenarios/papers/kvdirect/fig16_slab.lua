-- Figure 16: throughput by share of PUTs for pairs of 62, 126 and 254 bytes in slabs. Of these, 536, 268 and 134
-- million pairs fill half of the memory.
return {
  name = "kvdirect-fig16-slab",
  system = { kind = "kvdirect", memory = "64GiB" },
  workload = { keys = 536e6, key = 8, value = 54, set = 0, dist = { zipf = 0.99 }, arrival = "saturate" },
  run = { functional = "sampled", sample_rate = 256, duration = "1ms" },
  sweep = { ["workload.set"] = { 0, 0.05, 0.5, 1 }, ["workload.dist"] = { "uniform", "zipf" } },
}
