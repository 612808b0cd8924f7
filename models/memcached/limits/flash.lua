-- Instances of Fatcache block for their reads, one at a time, which leaves most of the SSD idle.
return {
  name = "flash threads flash",
  node = { sockets = 1 },
  system = { kind = "fatcache", entries = 12.2e6, loopback = true, slab_memory = "1MiB", disk = "1GiB" },
  workload = { keys = 2e5, key = 32, value = 992, arrival = "saturate", get = 1 },
  run = { duration = "50ms" },
}
