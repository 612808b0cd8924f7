-- Figure 20: throughput in windows of 0.3 ms (windows.csv) while the load alternates between K8-G50-U and K16-G95-S, 3 ms each.
-- recovery_us is the mean time from a change of the load to the last window below 95 % of the throughput that follows.
return {
  name = "dido-fig20",
  system = { kind = "dido", pipeline = "auto", predict = "paper" },
  workload = {
    keys = 8e6, arrival = "saturate",
    phases = {
      { length = "3ms", key = 8, value = 8, get = 0.5, set = 0.5 },
      { key = 16, value = 64, get = 0.95, set = 0.05, zipf = 0.99 },
    },
  },
  run = { warmup = "6ms", duration = "18ms", bottleneck = "utilization" },
}
