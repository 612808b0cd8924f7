-- The golden run: small, but with evictions, deletes, two sockets, Zipf keys and random arrivals.
return {
  name = "golden-megakv",
  system = { kind = "megakv", cycle = "160us", api = "get", index = "4MiB", slab = "8MiB" },
  workload = {
    keys = 600e3, key = 16, value = 64, get = 0.8, set = 0.19, delete = 0.01,
    dist = { zipf = 0.99 }, arrival = { poisson_mops = 40 },
  },
  run = { warmup = "2ms", duration = "5ms", seed = 7, replicas = 2 },
}
