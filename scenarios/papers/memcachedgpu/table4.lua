-- Table 4: SETs over TCP alongside GETs, on the Tesla K20c. The number of connections that send SETs is not published;
-- four, one for each thread of memcached, keep its handler of SETs busy. Table and keys are a 64th of the paper's 8.3
-- and 1.3 million, and the table is as full; no cache of the model would hold them. GETs meet the lock of a SET 64
-- times as often as in the paper, in some 5 % of the batches, and wait for a few microseconds.
return {
  name = "memcachedgpu-table4",
  system = { kind = "memcachedgpu", program = "published", streams = 28, receive = "gpu", post_threads = 2, entries = 130e3, set_connections = 4 },
  node = { cpu = "core-i7-4770k", dram = "ddr3-1600-i7-4770k", gpu = "tesla-k20c", pcie = "pcie2-x16-k20c", nic = "x520-t2",
           network = "direct-cable-10g" },
  workload = { keys = 20e3, key = 16, value = 2, get = 1, set = 0, arrival = { fixed_mops = 7 } },
  run = { duration = "40ms" },
  sweep = { ["workload.arrival.fixed_mops"] = { 7, 8.8, 9.7, 10.6, 11.7 } },
}
