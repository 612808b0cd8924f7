-- Two cores serve all requests.
return {
  name = "cpu core cpu",
  system = { kind = "rdma", sides = "two", cores = 2 },
  workload = { keys = 1e5, key = 8, value = 8, arrival = "saturate", get = 1 },
  run = { duration = "1ms" },
}
