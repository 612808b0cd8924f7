-- The golden run of a CPU and a GPU with a PCIe link between them: small, with evictions, deletes, stealing in both
-- directions and Zipf keys.
return {
  name = "golden-dido-discrete",
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
  workload = {
    keys = 400e3, key = 16, value = 64, get = 0.9, set = 0.09, delete = 0.01,
    dist = { zipf = 0.99 }, arrival = "saturate",
  },
  run = { warmup = "2ms", duration = "5ms", seed = 7, replicas = 2 },
}
