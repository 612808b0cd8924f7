-- Figure 18: energy efficiency of the cluster with the energy manager. One socket of it, which has its own clients (fig14.lua),
-- with half of what its node draws besides its devices: an idle server with two of these processors and its memory takes
-- 87.0 W at the wall (kvdirect.power.idle), of which the two idle processors have 2 x 15 W.
-- The cycle is the one at which eq. (4) and Table 2 give the 22 Mops a GPU at 324 MHz of sec. 8.8.1, because no cycle is stated
-- there, and at the 160 us of sec. 8.6 that pair serves nothing. GPUs draw their published watts while they serve: sec. 8.8.1
-- multiplies 150 - 58 W by eight cards. The load is 99 % of the largest (kvcast predict). Simulated is a thousandth of the
-- manager's times, whole cycles of it. Data sets c and d are in local memory, as in fig14_large.lua.
return {
  name = "megakv-fig18",
  system = { kind = "megakv", index = "2GiB", cycle_from = "launch", cycle = "492us", api = "getk", gpu_power = "serving" },
  node = { sockets = 1, power = 87.0 / 2 - 15 },
  workload = { preset = "megakv-a", keys = 200e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 },
               arrival = { fixed_mops = 69.3 }, fill = "at_once", flows = 8, connections = 65536 },
  power = { policy = "manager", period = "9.84ms", settle = "9.84ms" },
  run = { functional = "sampled", sample_memory = "64MiB", duration = "29.52ms" },
}
