-- Figure 16: GETs of 8 KB from flash on up to four nodes in a line. The scenario is (c), with as many hosts as nodes. (a) is
-- system.app_servers = 1 on four nodes with system.stores = 1 to 4; (b) is system.stores = 1 with system.app_servers = 1 to 4.
return {
  name = "bluecache-fig16",
  system = { kind = "bluecache", index = "64MiB", dram = "0B", flash = "512MiB" },
  cluster = { nodes = 4 },
  workload = { keys = 40e3, key = 32, value = 8104, get = 1, set = 0, arrival = "saturate" },
  run = { duration = "100ms" },
  sweep = { ["cluster.nodes"] = { 1, 2, 3, 4 } },
}
