-- memcached on the sockets of Linux, with SETs that evict and an open load that it can serve.
return {
  name = "golden-memcached",
  node = { sockets = 1, network = "direct-cable-10g" },
  system = { kind = "memcached", entries = 30000 },
  workload = { keys = 4e4, key = 16, value = 100, get = 0.9, set = 0.05, delete = 0.05, dist = { zipf = 0.99 }, arrival = { poisson_mops = 0.6 }, connections = 16 },
  run = { duration = "5ms", replicas = 2 },
}
