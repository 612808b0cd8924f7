-- A load for partitions_bench --gpu, which places the tasks of a query on eight cores and a GPU in many ways and
-- compares the throughput that it forecasts with the one that it measures. The interval fits three stages (fact
-- dido.mot.stage_limit), so that all partitions have batches of the same time. The simulated machine is DIDO's, with
-- more cores, because a measured run uses no more of it than the size of its batches at the start.
return {
  system = {
    kind = "dido",
    pipeline = "cpu:4 RV PP MM insert delete > gpu search KC RD > cpu:3 WR SD",
    stealing = false,
    feed = "memory",
    interval = "300us",
  },
  node = { cpu = { base = "a10-7850k", cores = 16 } },
  workload = { preset = "K8-G95-U", keys = 4e6, get = 0.95, set = 0.05, arrival = "saturate" },
  run = { duration = "200ms" },
}
