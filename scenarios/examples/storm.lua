-- One key gets a third of all requests for 10 ms, on four nodes: what does its core lose, and for how long?
-- kvcast run storm.lua -o out && kvcast plot -k timeline out
return {
  name = "storm", system = { kind = "mica" }, cluster = { nodes = 4 },
  workload = { keys = 1e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, arrival = { poisson_mops = 40 },
               storms = { { at = "10ms", length = "10ms", frac = 0.33 } } },
  slo = { p99 = "100us", window = "1ms" }, run = { duration = "30ms" },
}
