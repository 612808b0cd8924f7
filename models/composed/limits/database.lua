-- Half of the GETs miss, and wait for a database that works on few queries at a time.
return {
  name = "database ask database",
  system = {
    kind = "composed", outstanding = 512,
    index = { kernel = "cuckoo" },
    stages = {
      { name = "receive", on = "nic.rx" },
      { name = "search", on = "cpu", cores = 2, cycles = 300, does = "search" },
      { name = "ask", on = "database", when = { "get", "miss" } },
      { name = "send", on = "nic.tx" },
    },
  },
  node = { sockets = 1, database = { base = "mysql-bg", queries = 4, read = "50us" } },
  workload = { keys = 1e5, preload = 0.5, key = 16, value = 24, get = 1, set = 0, dist = "uniform", arrival = "saturate" },
  run = { duration = "40ms" },
}
