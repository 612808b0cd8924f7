-- Figure 20 and section 6.2: up to ten NICs with one link each. Each NIC has its share of the keys and of 64 GiB, so
-- that the DRAM of more NICs caches a larger part. The dispatch ratio is the one that the paper states for the
-- long-tail benchmark (kvdirect.disp.l_sys, sec. 5.2.2), as in fig16.lua; none is stated for more NICs. The warm-up is
-- long enough for the hottest NIC to slow the clients of all NICs down.
return {
  name = "kvdirect-fig20",
  system = { kind = "kvdirect", nics = 10, memory = "64GiB", idle_power = "87W", dispatch = 0.6 },
  node = { pcie = { base = "catapult-pcie3-x8", endpoints = 1 } },
  workload = { keys = 3.4e9, key = 8, value = 2, set = 0, dist = { zipf = 0.99 }, arrival = "saturate" },
  run = { functional = "sampled", sample_rate = 2048, duration = "1ms" },
  sweep = { ["system.nics"] = { 1, 2, 4, 6, 8, 10 } },
}
