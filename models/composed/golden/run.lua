-- The golden run: two pipelines of cores and streams, batches by count and time, late inserts, and a branch.
return {
  name = "golden-composed",
  system = {
    kind = "composed", pipelines = 2,
    index = { kernel = "cuckoo", memory = "gpu", size = "4MiB" },
    values = { kernel = "slab" },
    batch = { count = 512, timeout = "50us" },
    stages = {
      { name = "rx", on = "nic.rx" },
      { name = "receive", on = "cpu", cycles = 90, does = { "parse", "write" } },
      { name = "down", on = "pcie.down", bytes = 8 },
      { name = "search", on = "gpu", streams = 2, does = "search" },
      { name = "insert", on = "gpu", does = { "insert", "erase" }, every = 2, background = true },
      { name = "up", on = "pcie.up", bytes = 4 },
      { name = "answer", on = "cpu", cycles = 60, does = { "compare", "read" } },
      { name = "retry", on = "cpu", ns = 500, when = { "get", "miss" } },
      { name = "tx", on = "nic.tx" },
    },
  },
  node = { sockets = 1, gpu = "h200" },
  workload = {
    keys = 1e5, key = 16, value = 24, get = 0.9, set = 0.05, delete = 0.05, preload = 0.9, dist = { zipf = 0.99 },
    arrival = { poisson_mops = 10 },
  },
  run = { warmup = "500us", duration = "2ms", seed = 7, replicas = 2 },
}
