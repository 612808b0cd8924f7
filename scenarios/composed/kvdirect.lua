-- KV-Direct (Li et al., SOSP 2017) in its coarse form as a composition: a pipeline on the network card starts an operation every clock,
-- finds pairs in the buckets of a hash table in host memory, and caches two thirds of these in its own memory. Pairs of up to 15 bytes
-- are in the buckets themselves, larger ones in slabs of the same memory: `values.inline` moves that limit.
return {
  name = "composed_kvdirect",
  system = {
    kind = "composed", cached = 0.67, backlog = 13, -- Clients that saturate it fill a queue of 512 operations, 40 to a frame.
    index = { kernel = "kvdirect", size = "64MiB" },
    values = { kernel = "inline" },
    stages = {
      { name = "receive", on = "nic.rx" },
      { name = "process", on = "fpga", cycles = 4, queue = 1000, does = { "search", "insert", "erase" } },
      { name = "send", on = "nic.tx", bytes = 8 }, -- The key comes back.
    },
  },
  node = { cpu = "xeon-e5-2650v2", dram = "ddr3-1600-e5v2", pcie = "catapult-pcie3-x8", nic = "catapult-40g",
           fpga = { base = "catapult-stratix-v", dram = "2MiB" }, sockets = 1 },
  workload = { keys = 1.5e6, key = 8, value = 2, get = 0.95, set = 0.05, per_frame = 40, dist = { zipf = 0.99 },
               arrival = { poisson_mops = 100 } },
  run = { duration = "5ms" },
}
