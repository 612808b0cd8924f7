-- A small load for the threads of a pipeline on the CPU: what ThreadSanitizer watches.
return {
  name = "dido-threads",
  node = { sockets = 1 },
  system = { kind = "dido", feed = "memory", stealing = false, interval = "100us", slab = "4MiB",
             pipeline = "cpu:1 RV PP MM search insert > cpu:1 delete KC RD WR SD" },
  workload = { keys = 1000, key = 16, value = 64, get = 0.9, set = 0.09, delete = 0.01, arrival = "saturate" },
  run = { warmup = "20ms", duration = "50ms" },
}
