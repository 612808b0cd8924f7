-- A day with 12 Mops at 04:00 and 50 Mops at 16:00: how much energy does it take, and when is p99 worst? kvcast day day_energy.lua
return {
  name = "day-energy", system = { kind = "megakv", index = "64MiB", cycle = "200us" }, node = { sockets = 1, power = 57 },
  workload = { keys = 1e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, arrival = { poisson_mops = 31 } },
  day = { usd_per_kwh = 0.15, windows = 12, curve = { { hour = 4, rate = 12 }, { hour = 8, rate = 25 }, { hour = 16, rate = 50 } } },
  slo = { p99 = "400us" },
}
