-- Figure 12: throughput of one node whose pairs are all in DRAM, by the size of the pair. Keys have 32 bytes; workload.set = 1 and
-- get = 0 are the SETs.
return {
  name = "bluecache-fig12",
  system = { kind = "bluecache", index = "64MiB", flash = "1GiB", dram = "768MiB" },
  workload = { keys = 20e3, key = 32, value = 32, get = 1, set = 0, arrival = "saturate" },
  run = { duration = "10ms" },
  sweep = { ["workload.value"] = { 32, 96, 224, 480, 992, 2016, 4064, 8104 } },
}
