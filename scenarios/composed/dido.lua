-- DIDO (Zhang et al., ICDE 2017) on a chip whose CPU and GPU share one memory, with Mega-KV's pipeline: cores parse and store, the
-- GPU has the index, and cores answer. The built-in store writes it "cpu:2 RV PP MM > gpu search insert delete > cpu:2 KC RD WR SD".
-- Instructions are those that the built-in store counts for keys of 16 and values of 64 bytes. Requests come from memory.
return {
  name = "composed_dido",
  system = {
    kind = "composed",
    index = { kernel = "cuckoo" }, -- In host memory, which the GPU uses as well.
    values = { kernel = "slab", size = "46MiB" },
    batch = { every = "300us", buffers = 3, before = "parse" }, -- A batch in each of the three stages of the paper.
    stages = {
      -- Both cores work on one batch, each on a part of its requests. A request has a header of 8 bytes, and its key.
      { name = "parse", on = "cpu", pool = "front", cores = 2, split = true, instructions = 72.4, bytes = 24 },
      -- The first line of the item that CLOCK evicts is anywhere.
      { name = "store", on = "cpu", pool = "front", cores = 2, split = true, of = "set", instructions = 262.6, lines = 1,
        does = { "write" } },
      -- A kernel for each operation; its threads execute so many instructions.
      { name = "search", on = "gpu", pool = "gpu", of = "get", instructions = 291.8, does = { "search" } },
      { name = "insert", on = "gpu", pool = "gpu", of = "set", instructions = 1970, does = { "insert" } },
      { name = "delete", on = "gpu", pool = "gpu", of = "set", instructions = 327.5, does = { "erase" } },
      -- Compare, read and write the response. The second task finds the item in the cache, which takes 21 cycles.
      { name = "answer", on = "cpu", cores = 2, split = true, of = "get", instructions = 137 + 204.1 + 7.4, cycles = 21, bytes = 8,
        does = { "compare", "read" } },
    },
  },
  node = { cpu = "a10-7850k", gpu = "a10-7850k-gpu", dram = "ddr3-1333-a10-7850k", sockets = 1 },
  workload = { keys = 500e3, key = 16, value = 64, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, arrival = { poisson_mops = 6 } },
  run = { duration = "20ms" },
}
