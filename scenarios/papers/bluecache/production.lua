-- What the node that the paper foresees needs (sec. 5.3: 8 TB, 2.5 million GETs a second): 16 cards of 0.5 TB, their tags, and
-- PCIe of the fifth generation. Use the closed form (kvcast predict).
return {
  name = "bluecache-production",
  system = { kind = "bluecache", dram = "0B", flash = "8GiB", outstanding = 4096 },
  node = {
    flash = { base = "bluecache-flash", channels = 128, tags = 2048, busy = "96W" },
    pcie = "pcie5-x16",
  },
  workload = { keys = 1e6, key = 32, value = 8104, get = 1, set = 0, arrival = "saturate" },
  run = { duration = "10ms" },
}
