-- GETs only, because the closed form does not know how the threads that write are used.
return {
  system = { kind = "memcachedgpu", entries = 1e6 },
  workload = { keys = 1e5, key = 16, value = 64, get = 1, set = 0 },
  run = { duration = "5ms" },
}
