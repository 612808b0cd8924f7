-- Figure 13: latency of one node whose pairs are all in DRAM, by the size of the pair, with one request at a time.
return {
  name = "bluecache-fig13",
  system = { kind = "bluecache", index = "64MiB", flash = "1GiB", dram = "768MiB" },
  workload = { keys = 20e3, key = 32, value = 32, get = 1, set = 0, arrival = { fixed_mops = 0.0005 } },
  run = { duration = "200ms" },
  sweep = { ["workload.value"] = { 32, 96, 224, 480, 992, 2016, 4064, 8104 } },
}
