-- Figure 13a, baselines: fetch-and-add on few keys by one-sided RDMA atomics and by cores that own the keys.
return {
  name = "kvdirect-fig13-rdma",
  system = { kind = "rdma", sides = "one", atomics = true },
  workload = { keys = 1, key = 8, value = 8, get = 0, set = 1, arrival = "saturate" },
  run = { duration = "2ms" },
  sweep = { ["workload.keys"] = { 1, 4, 16, 64, 256, 1024 }, ["system.sides"] = { "one", "two" } },
}
