-- Latency at an open load: 60 million requests arrive per second at random times, less than half of what the store serves.
return {
  name = "open-load",
  system = { kind = "megakv", index = "2GiB", cycle = "160us" },
  workload = { keys = 10e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, arrival = { poisson_mops = 60 } },
  run = { functional = "sampled", sample_memory = "256MiB" },
}
