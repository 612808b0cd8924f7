-- Half load: what latency do clients see when 60 million requests a second arrive at random?
return {
  name = "open-load",
  system = { kind = "megakv", cycle = "160us" },
  workload = { keys = 10e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, arrival = { poisson_mops = 60 } },
  run = { functional = "sampled", sample_memory = "256MiB" },
}
