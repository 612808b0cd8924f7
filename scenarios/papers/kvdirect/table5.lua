-- Tables 5 and 6: the best dispatch ratio and its throughput for a billion keys, by the rate and the size of the NIC's
-- DRAM. Use the closed form (kvcast sweep --predict) and read dispatch_frac, cache_hit_frac and pcie_limit_mops.
return {
  name = "kvdirect-table5",
  system = { kind = "kvdirect", memory = "20GiB" },
  workload = { keys = 1e9, key = 8, value = 2, get = 1, set = 0, dist = { zipf = 0.99 }, arrival = "saturate" },
  run = { functional = "sampled", sample_rate = 512, duration = "1ms" },
  sweep = {
    ["node.fpga.dram_rate"] = { "3.3GB/s", "6.6GB/s", "13.2GB/s", "26.4GB/s" },
    ["node.fpga.dram"] = { "80MiB", "320MiB", "1280MiB", "5120MiB" },
  },
}
