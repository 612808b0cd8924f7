-- KV-Direct on one programmable NIC, at an open load of 100 Mops. Pairs have 10 bytes, packets carry 40 operations, and
-- half of the memory is in use. The size of the hash index, the inline threshold and the part of memory that the NIC's
-- DRAM caches are chosen automatically.
return {
  system = { kind = "kvdirect", memory = "256MiB", idle_power = "87W" },
  node = { fpga = { base = "catapult-stratix-v", dram = "16MiB" } },
  workload = { keys = 12e6, key = 8, value = 2, set = 0.05, per_frame = 40, dist = { zipf = 0.99 },
               arrival = { poisson_mops = 100 } },
  run = { duration = "5ms" },
}
