-- The response thread wakes one application thread after another.
return {
  name = "cpu wake cpu",
  system = { kind = "bluecache", index = "1MiB", dram = "16MiB", flash = "256MiB" },
  workload = { keys = 1e4, key = 32, value = 32, get = 1, set = 0, arrival = { clients = 256 } },
  run = { duration = "10ms" },
}
