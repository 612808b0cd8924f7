-- Table 3: loading throughput of one node (100 % SET into an empty store) with data sets a and b, through the network.
return {
  name = "megakv-table3",
  system = { kind = "megakv", cycle = "160us", slab = "32GiB" },
  workload = { preset = "megakv-a", keys = 400e6, get = 0, set = 1, arrival = "saturate", clients_for = "socket", preload = 0 },
  run = { functional = "sampled", sample_memory = "256MiB", duration = "10ms" },
  sweep = { ["workload.preset"] = { "megakv-a", "megakv-b" } },
}
