-- Clients that think for a while, because they wait for their answers over TCP. Large slabs, because the closed form
-- assumes that the newest is half full.
return {
  system = { kind = "fatcache", instances = 2, entries = 4e4, slab_memory = "16MiB", disk = "128MiB" },
  workload = { keys = 3e4, key = 16, value = 4000, get = 1, set = 0, arrival = { clients = 200, think = "10ms" } },
  run = { duration = "80ms" },
}
