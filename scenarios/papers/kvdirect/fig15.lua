-- Figure 15: what packets of several operations gain over packets of one, by the size of the pair: 16, 32, 64 and 128 bytes.
return {
  name = "kvdirect-fig15",
  system = { kind = "kvdirect", memory = "64GiB", idle_power = "87W" },
  workload = { keys = 134e6, key = 8, value = 8, get = 1, set = 0, dist = { zipf = 0.99 }, arrival = "saturate" },
  run = { functional = "sampled", sample_rate = 256, duration = "500us" },
  sweep = { ["workload.value"] = { 8, 24, 56, 120 }, ["workload.per_frame"] = { 1, 4, 16, 64 } },
}
