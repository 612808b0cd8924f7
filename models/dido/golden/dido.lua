-- The golden run: small, with evictions, deletes, stealing in both directions and Zipf keys.
return {
  name = "golden-dido",
  system = {
    kind = "dido",
    pipeline = "cpu:2 RV PP MM insert > gpu search KC RD > cpu:2 delete WR SD",
    interval = "100us",
    slab = "34MiB",
  },
  workload = {
    keys = 400e3, key = 16, value = 64, get = 0.9, set = 0.09, delete = 0.01,
    dist = { zipf = 0.99 }, arrival = "saturate",
  },
  run = { warmup = "2ms", duration = "5ms", seed = 7, replicas = 2 },
}
