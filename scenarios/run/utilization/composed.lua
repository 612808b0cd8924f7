-- A fourth of the requests has more work in a stage of its own.
return {
  system = {
    kind = "composed",
    index = { kernel = "cuckoo" },
    values = { kernel = "slab" },
    stages = {
      { name = "receive", on = "nic.rx" },
      { name = "serve", on = "cpu", cores = 2, cycles = 500,
        does = { "parse", "write", "search", "insert", "erase", "compare", "read" } },
      { name = "sets", on = "cpu", ns = 300, of = "set" },
      { name = "send", on = "nic.tx" },
    },
  },
  workload = { keys = 1e5, key = 16, value = 64, get = 0.75, set = 0.25 },
  run = { duration = "10ms" },
}
