-- A card with slow random accesses limits the store.
return {
  name = "gpu index gpu",
  system = { kind = "megakv", index = "16MiB", streams = 2 },
  node = { sockets = 1, gpu = { base = "tesla-k40c", access = "500ns", launch = "5us", clocks = { { core = "875MHz", memory = "3004MHz" } }, sectors = 2e7 } },
  workload = { keys = 1e5, key = 8, value = 8, get = 0.95, set = 0.05, arrival = "saturate" },
  run = { duration = "300ms" },
}
