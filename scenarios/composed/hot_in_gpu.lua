-- A store of today on an H200: the index and copies of the hot values stay in the memory of the GPU, and all values in host memory.
-- The GPU answers what is hot, and cores serve the rest: hot_frac of the result says how many GETs never touch host memory. A
-- larger tier answers more of them, and with --set system.hot.size=16MiB cores and PCIe have more to do. A request costs the
-- cores about as many cycles as MICA's (mica.lua), divided over its stages. Nobody has built this store: its numbers are a forecast.
return {
  name = "composed_hot_in_gpu",
  system = {
    kind = "composed", pipelines = 4,
    index = { kernel = "cuckoo", memory = "gpu" },
    values = { kernel = "slab" },
    hot = { memory = "gpu", size = "64MiB" }, -- The index tells what is hot; CLOCK tells what stays so.
    batch = { count = 4096, timeout = "20us" },
    stages = {
      { name = "receive", on = "nic.rx" },
      { name = "collect", on = "cpu", cores = 4, cycles = 142, does = { "parse", "write" } },
      { name = "copy in", on = "pcie.down", bytes = 16 }, -- The key.
      { name = "lookup", on = "gpu", streams = 2, does = { "search", "hot.erase", "hot.read" } },
      -- SETs go on when their items are written; the index gets them in the background, with those of three more batches.
      { name = "update", on = "gpu", does = { "insert", "erase" }, every = 4, background = true },
      { name = "hot out", on = "pcie.up", bytes = 128, when = { "get", "hot" } },
      { name = "cold out", on = "pcie.up", bytes = 4, when = { "get", "cold" } }, -- Where the item is.
      { name = "read", on = "cpu", cores = 4, cycles = 100, overlap = 8, when = { "get", "cold" }, does = { "compare", "read" } },
      { name = "warm up", on = "pcie.down", bytes = 144, when = { "get", "cold" }, background = true },
      { name = "fill", on = "gpu", when = { "get", "cold" }, does = { "hot.fill" } },
      { name = "answer", on = "cpu", cores = 2, cycles = 42 },
      { name = "send", on = "nic.tx" },
    },
  },
  node = { sockets = 1, cpu = "epyc-9654", dram = "ddr5-4800-genoa", nic = "connectx-7-400g", gpu = "h200" },
  workload = { keys = 4e6, key = 16, value = 128, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, fill = "at_once",
               arrival = { poisson_mops = 60 } },
  run = { duration = "10ms" },
}
