-- Many connections, because few do not spread evenly over the receivers' queues.
return {
  system = { kind = "megakv", index = "16MiB" },
  workload = { keys = 2e5, key = 16, value = 64, get = 0.95, set = 0.05, connections = 256 },
  run = { duration = "5ms" },
}
