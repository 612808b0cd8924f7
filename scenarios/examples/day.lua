-- A day in 240 ms of simulated time: 10 ms are an hour. The load falls to a quarter at night and peaks at 16:00. Once in half
-- an hour (5 ms), the policy looks at the socket and chooses clocks: the slowest CPU that is busy for less than 80 % of the
-- time, and the GPU's slow pair while the load is low. Other policies:
--   kvcast run day.lua --set power.policy=fixed            (or race_to_idle)
--   kvcast run day.lua --set power.policy=manager --set power.settle=5ms --set power.throughput=served
local function choose(seen)
  local busy_ghz = seen.cpu_busy_frac * tonumber(seen.cpu:match("[%d.]+"))
  local cpu = seen.cpu_clocks[1]
  for _, clock in ipairs(seen.cpu_clocks) do
    if tonumber(clock:match("[%d.]+")) > busy_ghz / 0.8 then cpu = clock end
  end
  return { cpu = cpu, gpu = seen.served_mops < 18 and "324MHz" or "666MHz" }
end

return {
  name = "day",
  system = { kind = "megakv", index = "2GiB", cycle = "492us" },
  node = { sockets = 1, power = 28.5 },
  workload = {
    preset = "megakv-a", keys = 200e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, flows = 8, connections = 65536,
    arrival = { curve = {
      { time = "0ms", rate = "24Mops" }, { time = "40ms", rate = "12Mops" }, { time = "80ms", rate = "25Mops" },
      { time = "120ms", rate = "40Mops" }, { time = "160ms", rate = "50Mops" }, { time = "200ms", rate = "40Mops" },
      { time = "240ms", rate = "24Mops" } } },
  },
  power = { policy = choose, period = "5ms" },
  slo = { p99 = "1476us" }, -- Three cycles.
  run = { functional = "sampled", sample_memory = "64MiB", duration = "240ms" },
}
