-- A host requests large values in DRAM from its own node and, over slow links, from a neighbour.
return {
  name = "fabric fabric fabric",
  system = { kind = "bluecache", index = "1MiB", dram = "16MiB", flash = "256MiB", app_servers = 1 },
  cluster = { nodes = 2 },
  node = { fabric = { base = "aurora-4x10g", link_rate = "0.1GB/s" } },
  workload = { keys = 2e3, key = 32, value = 4000, get = 1, set = 0, arrival = "saturate" },
  run = { duration = "50ms" },
}
