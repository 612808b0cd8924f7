-- Without a cache, every access crosses PCIe, whose tags limit the reads in flight, as in fig. 3 of the paper.
return {
  name = "pcie pcie pcie",
  system = { kind = "kvdirect", memory = "32MiB", dispatch = 0 },
  node = { sockets = 1, fpga = { base = "catapult-stratix-v", dram = "2MiB" } },
  workload = { keys = 3e5, key = 8, value = 2, per_frame = 40, arrival = "saturate" },
  run = { warmup = "200us", duration = "500us" },
}
