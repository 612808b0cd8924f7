-- Figure 16: throughput by share of PUTs for pairs of 62, 126 and 254 bytes in slabs. Half of the memory
-- holds 536, 268 and 134 million such pairs. The clients have more requests on the way than the card works on, and wait for
-- answers, so that no backlog grows where answers fill the network.
return {
  name = "kvdirect-fig16-slab",
  system = { kind = "kvdirect", memory = "64GiB" },
  workload = { keys = 536e6, key = 8, value = 54, set = 0, dist = { zipf = 0.99 }, arrival = { clients = 4096 } },
  run = { functional = "sampled", sample_rate = 1024, duration = "1ms" },
  sweep = { ["workload.set"] = { 0, 0.05, 0.5, 1 }, ["workload.dist"] = { "uniform", "zipf" } },
}
