-- Two nodes with all places: DRAM, write buffer and flash, GETs, SETs and DELETEs of other nodes' keys, reclaiming.
return {
  name = "bluecache-golden",
  system = { kind = "bluecache", index = "256KiB", dram = "4MiB", flash = "16MiB" },
  cluster = { nodes = 2 },
  node = { flash = { base = "bluecache-flash", chips = 2, pages_per_block = 64 } },
  workload = { keys = 2e4, key = 24, value = 900, get = 0.7, set = 0.28, delete = 0.02, dist = { zipf = 0.9 },
               arrival = { poisson_mops = 0.3 } },
  run = { duration = "40ms", seed = 7 },
}
