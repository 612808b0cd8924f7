-- Atomics on the most popular key wait for each other.
return {
  name = "nic key nic",
  system = { kind = "rdma", sides = "one", atomics = true },
  workload = { keys = 1e5, key = 8, value = 8, arrival = "saturate", get = 0, set = 1, dist = { zipf = 1.2 } },
  run = { duration = "1ms" },
}
