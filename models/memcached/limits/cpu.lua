-- Four threads of memcached on the sockets of Linux.
return {
  name = "cpu threads cpu",
  node = { sockets = 1 },
  system = { kind = "memcached", entries = 8.3e6 },
  workload = { keys = 1e5, key = 16, value = 2, arrival = "saturate", get = 1, connections = 16 },
  run = { duration = "5ms" },
}
