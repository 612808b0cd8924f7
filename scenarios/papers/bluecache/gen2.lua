-- One application server and four nodes of figure 16 (a), with the PCIe of the second generation that sec. 6.2 plans. It
-- shows what limits the server then.
return {
  name = "bluecache-gen2",
  system = { kind = "bluecache", index = "64MiB", dram = "0B", flash = "512MiB", app_servers = 1 },
  node = { pcie = "pcie2-x8-vc707" },
  cluster = { nodes = 4 },
  workload = { keys = 40e3, key = 32, value = 8104, get = 1, set = 0, arrival = "saturate" },
  run = { duration = "100ms" },
  sweep = { ["node.pcie"] = { "pcie1-x8-vc707", "pcie2-x8-vc707" } },
}
