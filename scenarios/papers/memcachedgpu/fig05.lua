-- Figure 5: throughput and round trip with keys of mixed lengths, and with 85 % of hits, on the Tesla K20c. The text does not
-- name the figure's distributions; Facebook's pool USR has keys of 16 and of 21 bytes and values of 2.
-- Table and keys are a 64th of the paper's 8.3 and 1.3 million, and the table is as full; no cache of the model would hold them.
return {
  name = "memcachedgpu-fig05",
  system = { kind = "memcachedgpu", program = "published", streams = 28, receive = "gpu", post_threads = 2, entries = 130e3 },
  node = { cpu = "core-i7-4770k", dram = "ddr3-1600-i7-4770k", gpu = "tesla-k20c", pcie = "pcie2-x16-k20c", nic = "x520-t2",
           network = "direct-cable-10g" },
  workload = { keys = 20e3, sizes = "usr", get = 1, set = 0, arrival = { fixed_mops = 4 } },
  run = { duration = "5ms", warmup_limit = "20ms" },
  sweep = { ["workload.preload"] = { 0.85, 1 }, ["workload.sizes"] = { "fixed", "usr" } },
}
