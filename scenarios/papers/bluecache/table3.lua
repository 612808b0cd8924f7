-- Table 3: capacity for the power of a cluster of 20 nodes, each with two cards, which share the board's power. Use the closed
-- form (kvcast predict); gb_per_w is the answer.
return {
  name = "bluecache-table3",
  system = { kind = "bluecache", index = "64MiB", flash = "1GiB", dram = "0B" },
  cluster = { nodes = 20 },
  node = { flash = { base = "bluecache-flash", cards = 2 } },
  workload = { keys = 1e6, key = 32, value = 992, get = 1, set = 0, arrival = "saturate" },
  run = { functional = "full", duration = "10ms" },
}
