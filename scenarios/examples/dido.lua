-- DIDO (Zhang et al., ICDE 2017) on a chip with four CPU cores and a GPU: `pipeline = "auto"` places the eight tasks of a query by
-- the closed form, and each processor takes queries from the other's stage when it is idle.
return {
  name = "dido",
  system = { kind = "dido", pipeline = "auto", latency_limit = "1ms" },
  node = { cpu = "a10-7850k", gpu = "a10-7850k-gpu", dram = "ddr3-1333-a10-7850k" },
  workload = { keys = 500e3, key = 16, value = 64, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, arrival = { poisson_mops = 6 } },
  run = { duration = "20ms" },
}
