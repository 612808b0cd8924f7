-- Each request streams 64 KiB through host memory, which 64 cores exceed by far.
return {
  name = "host-memory serve dram",
  system = {
    kind = "composed",
    stages = {
      { name = "receive", on = "nic.rx" },
      { name = "serve", on = "cpu", cores = 64, cycles = 10, bytes = "64KiB" },
      { name = "send", on = "nic.tx" },
    },
  },
  node = { cpu = "epyc-9654", dram = "ddr5-4800-genoa" },
  workload = { keys = 1e5, key = 16, value = 24, arrival = "saturate" },
  run = { duration = "20ms" },
}
