-- The golden run: atomics of the network card, which wait for one another on the same key.
return {
  name = "golden-rdma-one-sided",
  system = { kind = "rdma", sides = "one", atomics = true },
  workload = { keys = 4, key = 8, value = 8, get = 0, set = 1, dist = { zipf = 0.99 }, arrival = { poisson_mops = 2 } },
  run = { warmup = "100us", duration = "1ms", seed = 7, replicas = 2 },
}
