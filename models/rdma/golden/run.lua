-- The golden run: small, with cores that own the keys, reads and writes, Zipf keys and random arrivals.
return {
  name = "golden-rdma",
  system = { kind = "rdma", sides = "two", cores = 2 },
  workload = {
    keys = 1e5, key = 8, value = 24, get = 0.9, set = 0.1, dist = { zipf = 0.99 }, arrival = { poisson_mops = 4 },
  },
  run = { warmup = "100us", duration = "1ms", seed = 7, replicas = 2 },
}
