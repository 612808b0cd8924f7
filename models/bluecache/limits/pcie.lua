-- Large values in DRAM meet the way back to the host.
return {
  name = "pcie out pcie",
  system = { kind = "bluecache", index = "1MiB", dram = "64MiB", flash = "256MiB" },
  workload = { keys = 1e4, key = 32, value = 4000, get = 1, set = 0, arrival = "saturate" },
  run = { duration = "20ms" },
}
