-- MemcachedGPU on a machine with 16 cores and an H200: packets from host memory, as in the paper's offline limit study.
return {
  name = "memcachedgpu-h200",
  system = { kind = "memcachedgpu", receive = "host", feed = "memory", streams = 8, post_threads = 4, entries = 4e6,
             key_room = 128 },
  node = { machine = "machine.lua" },
  workload = { keys = 1e6, key = 16, value = 8, get = 1, set = 0, arrival = "saturate" },
  run = { functional = "full", duration = "200ms" },
}
