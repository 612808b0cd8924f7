-- A store like memcached behind the sockets of Linux as a composition: four threads share a socket, and each packet costs them the
-- kernel's stack and memcached's own code. A thread first takes the packets of its own ring of the NIC, and then what any thread has
-- received. The cycles are those of the built-in store.
return {
  name = "composed_memcached",
  system = {
    kind = "composed", pipelines = 4, outstanding = 256,
    index = { kernel = "set-assoc", size = "16MiB" },
    values = { kernel = "slab" },
    stages = {
      { name = "receive", on = "nic.rx" },
      { name = "stack", on = "cpu", pool = "threads", cycles = 2379 },
      { name = "serve", on = "cpu", pool = "threads", cycles = 9534, shared = true, queue = 277, full = "drop",
        does = { "search", "write", "insert", "erase", "compare", "read" } },
      { name = "send", on = "nic.tx" },
    },
  },
  node = { cpu = "core-i7-4770k", dram = "ddr3-1600-i7-4770k", nic = "x520-t2", network = "direct-cable-10g", sockets = 1 },
  workload = { keys = 100e3, key = 16, value = 100, get = 0.9, set = 0.1, per_frame = 1, dist = { zipf = 0.99 },
               arrival = { poisson_mops = 0.6 } },
  run = { duration = "100ms" },
}
