-- Random pages meet the channels of the flash.
return {
  name = "flash channels flash slow",
  system = { kind = "bluecache", index = "1MiB", dram = "0B", flash = "256MiB" },
  workload = { keys = 2e4, key = 32, value = 4000, get = 1, set = 0, arrival = "saturate" },
  run = { duration = "50ms" },
}
