-- All tasks are on the cores, and each request takes a frame of its own.
return {
  name = "cpu stage1 cpu",
  system = { kind = "dido", pipeline = "cpu RV PP MM search insert delete KC RD WR SD" },
  workload = { keys = 1e5, key = 16, value = 64, per_frame = 1, arrival = "saturate", get = 1 },
  run = { duration = "100ms" },
}
