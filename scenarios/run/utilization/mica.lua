return {
  system = { kind = "mica" },
  workload = { keys = 1e5, key = 16, value = 64, get = 0.95, set = 0.05, connections = 4096 },
  run = { duration = "2ms" },
}
