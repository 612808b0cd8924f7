-- Table 3: loading throughput of one node with data sets c and d. The requests are in local memory, because the network
-- would limit them (sec. 8.1). The working set is 64 GB per node.
return {
  name = "megakv-table3-large",
  system = { kind = "megakv", cycle = "160us", feed = "memory", slab = "32GiB" },
  workload = { preset = "megakv-c", keys = 50e6, get = 0, set = 1, arrival = "saturate", clients_for = "socket", preload = 0 },
  run = { functional = "sampled", sample_memory = "256MiB", duration = "10ms" },
  sweep = { ["workload.preset"] = { "megakv-c", "megakv-d" } },
}
