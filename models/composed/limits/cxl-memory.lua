-- Each GET reads a value of 4 KB from memory behind CXL, whose links have 17.8 GB/s.
return {
  name = "cxl-memory serve cxl",
  system = {
    kind = "composed",
    index = { kernel = "memc3" },
    values = { kernel = "slab", memory = "cxl" },
    stages = {
      { name = "receive", on = "nic.rx" },
      { name = "serve", on = "cpu", cores = 64, cycles = 10, does = { "parse", "search", "read", "insert" } },
      { name = "send", on = "nic.tx" },
    },
  },
  node = { cpu = "epyc-9654", dram = "ddr5-4800-genoa", cxl = "cxl-e3s-x8" },
  workload = { keys = 1e5, key = 16, value = 4000, get = 1, set = 0, arrival = "saturate" },
  run = { duration = "20ms" },
}
