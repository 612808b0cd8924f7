-- MICA on two sockets whose NICs spread packets by their connections.
return {
  name = "golden-mica",
  node = { sockets = 2 },
  system = { kind = "mica", client_assisted = false, log = "1MiB", buckets = 2048 },
  workload = { keys = 1e5, key = 8, value = 8, get = 0.95, set = 0.05, arrival = "saturate", connections = 4096 },
  run = { duration = "1ms" },
}
