-- A small load for the threads of the measured runtime, without a GPU: what ThreadSanitizer watches.
return {
  name = "megakv-threads",
  node = { sockets = 1, cpu = { base = "xeon-e5-2650v2", cores = 2 } },
  system = { kind = "megakv", index = "1MiB", slab = "8MiB", feed = "memory", streams = 1, index_on = "thread",
             threads = "shared" },
  workload = { keys = 1000, value = 1000, get = 0.5, set = 0.5 },
  run = { warmup = "20ms", duration = "50ms" },
}
