-- Popular keys of small pairs leave the clock as the limit, as in fig. 13 of the paper.
return {
  name = "clock decode fpga",
  system = { kind = "kvdirect", memory = "32MiB" },
  node = { sockets = 1, fpga = { base = "catapult-stratix-v", dram = "2MiB" } },
  workload = { keys = 3e5, key = 8, value = 2, per_frame = 40, dist = { zipf = 0.99 }, arrival = "saturate" },
  run = { warmup = "200us", duration = "500us" },
}
