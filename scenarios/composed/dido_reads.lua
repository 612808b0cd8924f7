-- DIDO (Zhang et al., ICDE 2017) with a pipeline whose GPU also compares keys and reads values, as it can on a chip with one memory:
-- "cpu:2 RV PP MM insert delete > gpu search KC RD > cpu:2 WR SD". dido.lua explains the machine and the other pipeline.
return {
  name = "composed_dido_reads",
  system = {
    kind = "composed",
    index = { kernel = "cuckoo" },
    values = { kernel = "slab", size = "46MiB" },
    batch = { every = "300us", buffers = 3, before = "parse" },
    stages = {
      { name = "parse", on = "cpu", pool = "front", cores = 2, split = true, instructions = 72.4, bytes = 24 },
      { name = "store", on = "cpu", pool = "front", cores = 2, split = true, of = "set", instructions = 262.6 + 684.6 + 301.2, lines = 1,
        does = { "write", "insert", "erase" } },
      -- One kernel for the three tasks of a GET: values go to a buffer of the batch.
      { name = "read", on = "gpu", of = "get", instructions = 291.8 + 73 + 162.1, does = { "search", "compare", "read" } },
      -- Header and value of a response, and the value in the buffer.
      { name = "answer", on = "cpu", cores = 2, split = true, instructions = 28.6, bytes = 8 + 64 + 64 },
    },
  },
  node = { cpu = "a10-7850k", gpu = "a10-7850k-gpu", dram = "ddr3-1333-a10-7850k", sockets = 1 },
  workload = { keys = 500e3, key = 16, value = 64, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, arrival = { poisson_mops = 6 } },
  run = { duration = "20ms" },
}
