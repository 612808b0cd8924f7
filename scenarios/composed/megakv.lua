-- Mega-KV (Zhang et al., VLDB J. 26(5), 2017) as a composition. Seven pipelines of a socket have a receiver, a stream of the GPU
-- and a sender each. A scheduler closes all batches every 160 us. Searches run at once, and what SETs have changed is inserted
-- every second cycle, in the same streams. The work of a core is that of the built-in store: half of an operation on each side.
return {
  name = "composed_megakv",
  system = {
    kind = "composed", pipelines = 7,
    index = { kernel = "cuckoo", memory = "gpu", size = "64MiB" },
    values = { kernel = "slab" },
    batch = { every = "160us", before = "copy in" },
    stages = {
      { name = "rx", on = "nic.rx" },
      { name = "receive", on = "cpu", ns = 50, bytes = 8, does = { "write" } },
      { name = "copy in", on = "pcie.down", bytes = 8, of = "get" },
      { name = "search", on = "gpu", pool = "stream", does = { "search" } },
      { name = "insert", on = "gpu", pool = "stream", does = { "insert", "erase" }, every = 2, background = true },
      { name = "copy out", on = "pcie.up", bytes = 4, of = "get", after = "search" },
      { name = "answer", on = "cpu", ns = 50, bytes = 4, of = "get", does = { "read" } },
      { name = "send", on = "nic.tx", bytes = 8, of = "get" }, -- The key comes back with the value.
    },
  },
  node = { cpu = "xeon-e5-2650v2", dram = "ddr3-1600-e5v2", gpu = "tesla-k40c", pcie = "pcie3-k40c", nic = "xl710-2x40g",
           sockets = 2 },
  workload = { keys = 8e6, key = 8, value = 8, get = 0.95, set = 0.05, dist = { zipf = 0.99 },
               arrival = { poisson_mops = 100 } },
  run = { duration = "20ms" },
}
