-- Senders wait for the lines of large items.
return {
  name = "dram send dram slow",
  system = { kind = "megakv", index = "16MiB", streams = 1, feed = "memory" },
  node = { sockets = 1 },
  workload = { keys = 1e5, key = 8, value = 1024, get = 1, set = 0, arrival = "saturate" },
  run = { duration = "300ms" },
}
