-- Every request is an update of a database that works on one at a time.
return {
  name = "database database database",
  system = { kind = "bluecache", index = "1MiB", dram = "16MiB", flash = "256MiB" },
  node = { database = { base = "mysql-bg", queries = 1, read = "20us", times = "fixed" } },
  workload = { keys = 1e4, key = 32, value = 32, get = 0, set = 1, arrival = { clients = 64 } },
  run = { duration = "20ms" },
}
