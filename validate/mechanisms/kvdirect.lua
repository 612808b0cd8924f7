-- One KV-Direct NIC (Li et al., SOSP 2017) with inline pairs of 10 bytes. cases.csv states the load of each case.
return {
  name = "mechanisms-kvdirect",
  system = { kind = "kvdirect", memory = "256MiB" },
  node = { fpga = { base = "catapult-stratix-v", dram = "16MiB" } },
  workload = { keys = 8e6, key = 8, value = 2, get = 1, set = 0, dist = { zipf = 0.99 } },
  run = { functional = "sampled", sample_rate = 16, warmup = "200us", duration = "1ms" },
}
