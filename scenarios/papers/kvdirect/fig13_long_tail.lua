-- Figure 13b: throughput of a long-tail workload of 10-byte pairs by share of PUTs, with and without the out-of-order
-- engine. The memory is half full.
return {
  name = "kvdirect-fig13-long-tail",
  system = { kind = "kvdirect", memory = "64GiB", idle_power = "87W" },
  workload = { keys = 3.4e9, key = 8, value = 2, set = 0.5, dist = { zipf = 0.99 }, arrival = "saturate" },
  run = { functional = "sampled", sample_rate = 2048, duration = "1ms" },
  sweep = { ["workload.set"] = { 0.05, 0.25, 0.5, 0.75, 1 }, ["system.engine"] = { "out_of_order", "stall" } },
}
