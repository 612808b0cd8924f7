-- KV-Direct: one programmable NIC with 10-byte pairs, packets of 40 operations, half of the memory in use. It is an open
-- load of 100 Mops; the hash index, the inline threshold and what the NIC's DRAM may cache are chosen for it.
return {
  system = { kind = "kvdirect", memory = "256MiB", idle_power = "87W" },
  node = { fpga = { base = "catapult-stratix-v", dram = "16MiB" } },
  workload = { keys = 12e6, key = 8, value = 2, set = 0.05, per_frame = 40, dist = { zipf = 0.99 },
               arrival = { poisson_mops = 100 } },
  run = { duration = "5ms" },
}
