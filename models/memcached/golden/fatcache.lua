-- Fatcache with SETs that make slabs leave the memory and then overwrite others, and clients on the
-- network.
return {
  name = "golden-fatcache",
  node = { sockets = 1, network = "direct-cable-1g" },
  system = { kind = "fatcache", instances = 2, entries = 3e4, slab_memory = "2MiB", disk = "8MiB" },
  workload = { keys = 1e4, key = 32, value = 992, get = 0.5, set = 0.45, delete = 0.05, dist = { zipf = 0.9 }, arrival = { clients = 12 } },
  run = { duration = "40ms", replicas = 2 },
}
