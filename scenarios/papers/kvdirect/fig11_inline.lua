-- Figures 9, 11a and 11b: memory accesses per operation on inline pairs of 10 bytes, by memory utilization and hash
-- index ratio. The utilization is 25, 40, 50 and 65 % with 1.7, 2.7, 3.4 and 4.4 million keys.
return {
  name = "kvdirect-fig11-inline",
  system = { kind = "kvdirect", memory = "64MiB", index = 0.75, inline = 15 },
  node = { fpga = { base = "catapult-stratix-v", dram = "4MiB" } },
  workload = { keys = 2e6, key = 8, value = 2, get = 0.5, set = 0.5, arrival = "saturate" },
  run = { duration = "1ms" },
  sweep = { ["workload.keys"] = { 1.7e6, 2.7e6, 3.4e6, 4.4e6 }, ["system.index"] = { 0.4, 0.5, 0.6, 0.75 } },
}
