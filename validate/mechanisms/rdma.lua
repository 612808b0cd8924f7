-- Fetch-and-add by one-sided RDMA, the baseline of KV-Direct's figure 13a. cases.csv states the load of each case.
return {
  name = "mechanisms-rdma",
  system = { kind = "rdma", atomics = true },
  workload = { keys = 1e6, key = 8, value = 8, get = 0, set = 1 },
  run = { warmup = "200us", duration = "5ms" },
}
