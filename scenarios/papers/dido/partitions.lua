-- A load for partitions_bench, which divides the tasks of a query among two cores in many ways and compares the
-- throughput that it forecasts with the one that it measures. The interval fits three stages (fact
-- dido.mot.stage_limit), so that all partitions have batches of the same time.
return {
  system = {
    kind = "dido",
    pipeline = "cpu:1 RV PP MM insert delete > cpu:1 search KC RD WR SD",
    stealing = false,
    feed = "memory",
    interval = "300us",
  },
  workload = { preset = "K8-G95-U", keys = 4e6, get = 0.95, set = 0.05, arrival = "saturate" },
  run = { duration = "200ms" },
}
