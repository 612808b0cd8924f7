-- Figures 11c and 11d: memory accesses per operation on pairs of 254 bytes in slabs, at 50, 65 and 80 % memory
-- utilization.
return {
  name = "kvdirect-fig11-slab",
  system = { kind = "kvdirect", memory = "256MiB", index = 0.1, inline = 15 },
  node = { fpga = { base = "catapult-stratix-v", dram = "16MiB" } },
  workload = { keys = 528e3, key = 8, value = 246, get = 0.5, set = 0.5, arrival = "saturate" },
  run = { duration = "1ms" },
  sweep = { ["workload.keys"] = { 528e3, 687e3, 845e3 } },
}
