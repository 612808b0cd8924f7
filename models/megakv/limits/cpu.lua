-- Cores with slow compute limit the store.
return {
  name = "cpu receive cpu",
  system = { kind = "megakv", index = "16MiB", streams = 1 },
  node = { sockets = 1, cpu = { base = "xeon-e5-2650v2", operation = "2us" } },
  workload = { keys = 1e5, key = 8, value = 8, get = 0.95, set = 0.05, arrival = "saturate" },
  run = { duration = "100ms" },
}
