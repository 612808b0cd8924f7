-- Figure 21: the load alternates between K8-G50-U and K16-G95-S. The sweep varies the time of each. The speed-up is the
-- throughput of "auto" over the throughput of "megakv" without stealing, which is Mega-KV (Coupled). Its cores are
-- divided optimally for K8-G50-U. The paper does not say whether its cycles of 2 to 256 ms cover one of the two loads
-- or both.
return {
  name = "dido-fig21",
  system = { kind = "dido", pipeline = "auto", predict = "paper" },
  workload = {
    keys = 8e6, arrival = "saturate",
    phases = {
      { length = "1ms", key = 8, value = 8, get = 0.5, set = 0.5 },
      { key = 16, value = 64, get = 0.95, set = 0.05, zipf = 0.99 },
    },
  },
  run = { warmup = "512ms", duration = "512ms", bottleneck = "utilization" },
  sweep = {
    ["workload.phases.1.length"] = { "1ms", "2ms", "4ms", "8ms", "16ms", "32ms", "64ms", "128ms", "256ms" },
    ["system.pipeline"] = { "auto", "megakv" },
    ["system.stealing"] = { true, false },
  },
}
