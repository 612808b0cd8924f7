-- Fatcache: eight processes that each wait for one read of an SSD at a time. Each of 64 clients waits for its answer before it sends the
-- next request. More memory for the
-- newest slabs saves reads: --set system.slab_memory=64MiB.
return {
  name = "fatcache",
  system = { kind = "fatcache", instances = 8, slab_memory = "4MiB" },
  node = { sockets = 1, nic = "x520-t2", network = "direct-cable-10g" },
  workload = { keys = 100e3, key = 32, value = 992, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, arrival = { clients = 64 } },
  run = { duration = "500ms" },
}
