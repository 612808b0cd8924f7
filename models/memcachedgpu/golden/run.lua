-- The golden run: small, but with evictions, SETs, DELETEs, expiry, damaged packets, five tables, another task on the
-- GPU, Zipf keys of many sizes and random arrivals.
return {
  name = "golden-memcachedgpu",
  system = { kind = "memcachedgpu", entries = 40e3, tables = "by_key_size", slab = "16MiB", batch = 256, batch_timeout = "100us",
             expiry = "3ms", damaged = 0.01, background_blocks = 40, background_kernels = 2, background_time = "2ms",
             background_start = "1ms" },
  workload = {
    keys = 60e3, sizes = "etc", get = 0.995, set = 0.004, delete = 0.001,
    dist = { zipf = 0.99 }, arrival = { poisson_mops = 3 },
  },
  run = { warmup = "2ms", duration = "5ms", seed = 7, replicas = 2 },
}
