-- A load that is ten times as high for 50 ms: how long do requests wait in the burst and after it?
-- kvcast run bursts.lua -o out && kvcast plot -k timeline out
return {
  name = "bursts",
  system = { kind = "megakv", cycle = "200us", index = "64MiB" }, node = { sockets = 1 },
  workload = { keys = 4e6, get = 0.95, set = 0.05,
               arrival = { poisson_mops = 8, bursts = { { times = 10, length = "50ms", at = "100ms" } } } },
  slo = { p99 = "2ms", window = "10ms" }, run = { duration = "300ms" },
}
