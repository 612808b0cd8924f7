-- Figures 6 and 10: the largest hash index that holds all pairs of 10 bytes, and its memory accesses, at 20 to 60 %
-- memory utilization. Use the closed form (kvcast sweep --predict) and read index_frac, inline_bytes and
-- accesses_per_get.
return {
  name = "kvdirect-fig10",
  system = { kind = "kvdirect", memory = "64MiB" },
  node = { fpga = { base = "catapult-stratix-v", dram = "4MiB" } },
  workload = { keys = 2e6, key = 8, value = 2, get = 0.5, set = 0.5, arrival = "saturate" },
  run = { duration = "1ms" },
  sweep = { ["workload.keys"] = { 1.34e6, 2.0e6, 2.7e6, 3.4e6, 4.0e6 } },
}
