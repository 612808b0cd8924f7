-- The GPU copies large values, bound by the time of their lines, and the cores do next to nothing. Batches have the
-- largest size, so that they keep it on a faster machine.
return {
  name = "dram stage2 dram",
  system = {
    kind = "dido", feed = "memory", stealing = false, interval = "10ms",
    pipeline = "cpu RV PP MM > gpu search insert delete KC RD WR > cpu SD",
  },
  workload = { keys = 1e5, key = 16, value = 512, arrival = "saturate", get = 1 },
  run = { functional = "off", warmup = "20ms", duration = "800ms" },
}
