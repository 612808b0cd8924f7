-- Table 3: GETs over a port of 10 Gbit/s by size of the key, on the Tesla K20c with GNoM. The client sends at equal
-- distances; the peak is the highest rate at which the server drops no more packets than published.
-- Table and keys are a 64th of the paper's 8.3 and 1.3 million, and the table is as full; no cache of the model would hold them.
return {
  name = "memcachedgpu-table3",
  system = { kind = "memcachedgpu", program = "published", streams = 28, receive = "gpu", post_threads = 4, entries = 130e3 },
  node = { cpu = "core-i7-4770k", dram = "ddr3-1600-i7-4770k", gpu = "tesla-k20c", pcie = "pcie2-x16-k20c", nic = "x520-t2",
           network = "direct-cable-10g" },
  workload = { keys = 20e3, key = 16, value = 2, get = 1, set = 0, arrival = { fixed_mops = 12.92 } },
  run = { duration = "5ms", warmup_limit = "20ms" },
  sweep = { ["workload.key"] = { 16, 32, 64, 128 } },
}
