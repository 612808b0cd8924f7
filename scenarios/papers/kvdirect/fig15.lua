-- Figure 15: throughput by operations per packet, from 1 to as many as fit, at the limit of the network.
return {
  name = "kvdirect-fig15",
  system = { kind = "kvdirect", memory = "64GiB", idle_power = "87W" },
  node = { fpga = { base = "catapult-stratix-v", clock = "1GHz" } },
  workload = { keys = 3.4e9, key = 8, value = 2, get = 1, set = 0, per_frame = 1, dist = { zipf = 0.99 }, arrival = "saturate" },
  run = { functional = "sampled", sample_rate = 2048, duration = "500us" },
  sweep = { ["workload.per_frame"] = { 1, 2, 4, 8, 16, 64 } },
}
