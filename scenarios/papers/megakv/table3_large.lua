-- Table 3: loading throughput of one socket with data sets c and d. The requests are in local memory, because the network
-- would limit them (sec. 8.1). The working set is 64 GB per node, and a node has two sockets. The store is full, because sec. 8.3
-- names evictions as the main overhead: 55 M keys of data set c fill it, or 28 M of data set d.
return {
  name = "megakv-table3-large",
  system = { kind = "megakv", index = "2GiB", cycle_from = "launch", cycle = "160us", feed = "memory", slab = "32GiB" },
  node = { sockets = 1 },
  workload = { preset = "megakv-c", keys = 55e6, get = 0, set = 1,
               arrival = { fixed_mops = 15 }, fill = "at_once", flows = 8, connections = 65536 },
  run = { functional = "sampled", sample_memory = "64MiB", duration = "3.2ms" },
  sweep = { ["workload.preset"] = { "megakv-c", "megakv-d" } },
}
