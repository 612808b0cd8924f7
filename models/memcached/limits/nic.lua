-- MICA's cores are faster than its ports, on which responses with large values leave.
return {
  name = "nic send nic",
  node = { sockets = 1 },
  system = { kind = "mica", log = "64MiB", buckets = 65536 },
  workload = { keys = 1e5, key = 16, value = 512, arrival = "saturate", get = 1 },
  run = { duration = "1ms" },
}
