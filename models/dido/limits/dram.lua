-- The GPU copies large values for as long as their lines take, and the cores do next to nothing. Batches are as large as can be,
-- so that they stay as large on a faster machine.
return {
  name = "dram stage2 dram",
  system = {
    kind = "dido", network = "memory", stealing = false, interval = "10ms",
    pipeline = "cpu RV PP MM > gpu search insert delete KC RD WR > cpu SD",
  },
  workload = { keys = 1e5, key = 16, value = 512, arrival = "saturate", get = 1 },
  run = { functional = "off", warmup = "20ms", duration = "400ms" },
}
