-- A launch of index operations on one of the cards of launches.csv. kvcast validate --accuracy sets the card, the index and the keys.
return {
  name = "carried-megakv",
  system = { kind = "megakv", index = "2GiB", slab = "1GiB", streams = 1 },
  node = { sockets = 1, gpu = "h200", pcie = "pcie5-x16" },
  workload = { keys = 134217728 },
  run = { functional = "sampled" },
}
