-- The golden run: small, but with chains, deletes, cache evictions, write-backs, two NICs, Zipf keys and random
-- arrivals, sampled.
return {
  name = "golden-kvdirect",
  system = { kind = "kvdirect", nics = 2, memory = "64MiB", dispatch = 0.6, idle_power = "87W" },
  node = { fpga = { base = "catapult-stratix-v", dram = "2MiB" } },
  workload = {
    keys = 1e6, key = 16, value = 14, get = 0.6, set = 0.35, delete = 0.05, per_frame = 20,
    dist = { zipf = 0.99 }, arrival = { poisson_mops = 90 },
  },
  run = { functional = "sampled", sample_rate = 4, warmup = "100us", duration = "1ms", seed = 7, replicas = 2 },
}
