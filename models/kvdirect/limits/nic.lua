-- Large values fill the network, as in fig. 16 of the paper.
return {
  name = "nic send nic",
  system = { kind = "kvdirect", memory = "32MiB" },
  node = { sockets = 1, fpga = { base = "catapult-stratix-v", dram = "2MiB" } },
  workload = { keys = 5e4, key = 8, value = 200, per_frame = 4, dist = { zipf = 0.99 }, arrival = "saturate" },
  run = { warmup = "200us", duration = "500us" },
}
