-- SETs fill the write buffer some times, which is written to all chips at once.
return {
  system = { kind = "bluecache", index = "1MiB", dram = "4MiB", flash = "256MiB" },
  workload = { keys = 2e4, key = 24, value = 900, get = 0.7, set = 0.3 },
  run = { duration = "300ms" },
}
