-- GETs only, because SETs evict nothing before the slabs are full, which they are in the closed form.
return {
  system = {
    kind = "dido",
    pipeline = "cpu:3 RV PP MM insert > gpu search KC RD > cpu:5 delete WR SD",
    interval = "100us",
    feed = "memory",
    slab = "34MiB",
  },
  node = {
    cpu = { base = "xeon-e5-2650v2", instructions_per_cycle = 4, sustained_ipc = 3.27 },
    dram = "ddr3-1600-e5v2",
    gpu = "gtx-780",
    pcie = "pcie3-x16-gtx780",
  },
  workload = { keys = 1e5, key = 16, value = 64, get = 1, set = 0 },
  run = { duration = "5ms" },
}
