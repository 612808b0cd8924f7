-- Figure 14: throughput of one node whose pairs are all on flash, by the size of the pair. The largest pair that a page of 8 KiB
-- holds with its headers has 8144 bytes; larger ones take two pages.
return {
  name = "bluecache-fig14",
  system = { kind = "bluecache", index = "64MiB", dram = "0B", flash = "2GiB" },
  workload = { keys = 100e3, key = 32, value = 32, get = 1, set = 0, arrival = "saturate" },
  run = { duration = "100ms" },
  sweep = { ["workload.value"] = { 32, 96, 224, 480, 992, 2016, 4064, 8104, 16e3 } },
}
