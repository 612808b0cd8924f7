-- A page needs 24 keys at once: how long does it wait for the last of them, and how long would it for one?
return {
  name = "multiget", system = { kind = "mica" },
  workload = { keys = 1e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, multiget = 24, arrival = { poisson_mops = 30 } },
  run = { duration = "10ms" },
  sweep = { ["workload.multiget"] = { 1, 8, 24, 100 } },
}
