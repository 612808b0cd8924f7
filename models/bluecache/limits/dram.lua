-- Small pairs in DRAM meet its random accesses.
return {
  name = "dram search dram",
  system = { kind = "bluecache", index = "1MiB", dram = "16MiB", flash = "256MiB" },
  workload = { keys = 1e4, key = 32, value = 32, get = 1, set = 0, arrival = "saturate" },
  run = { duration = "5ms" },
}
