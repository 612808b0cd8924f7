-- Slow ports limit the store.
return {
  name = "nic tx nic",
  system = { kind = "megakv", index = "16MiB", streams = 2 },
  node = { sockets = 1, nic = { base = "xl710-2x40g", port_rate = "500Mbps" } },
  workload = { keys = 1e5, key = 8, value = 8, get = 0.95, set = 0.05, arrival = "saturate" },
  run = { duration = "100ms" },
}
