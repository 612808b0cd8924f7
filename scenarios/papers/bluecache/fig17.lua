-- Figure 17: latency of GETs of 8 KB from DRAM over several hops. One host asks all nodes of a line; with n of them, a request
-- takes (n - 1) / 2 hops on average. system.dram = "0B" are the GETs from flash.
return {
  name = "bluecache-fig17",
  system = { kind = "bluecache", index = "64MiB", dram = "256MiB", flash = "512MiB", app_servers = 1 },
  workload = { keys = 10e3, key = 32, value = 8104, get = 1, set = 0, arrival = { fixed_mops = 0.0005 } },
  run = { duration = "200ms" },
  sweep = { ["cluster.nodes"] = { 1, 2, 3, 4 } },
}
