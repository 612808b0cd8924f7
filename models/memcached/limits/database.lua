-- Every request is an update of a database that works on one at a time, and blocks no instance of Fatcache.
return {
  name = "database database database",
  node = { sockets = 1, database = { base = "mysql-bg", queries = 1, read = "50us", times = "fixed" } },
  system = { kind = "fatcache", entries = 12.2e6, loopback = true, slab_memory = "64MiB", disk = "1GiB" },
  workload = { keys = 1e4, key = 32, value = 32, get = 0, set = 1, arrival = { clients = 64 } },
  run = { duration = "50ms" },
}
