-- Figure 18: GETs of 1 KB from flash through the software interface, by the number of application threads.
return {
  name = "bluecache-fig18",
  system = { kind = "bluecache", index = "64MiB", dram = "0B", flash = "512MiB" },
  workload = { keys = 300e3, key = 32, value = 992, get = 1, set = 0, arrival = { clients = 128 } },
  run = { duration = "100ms" },
  sweep = { ["workload.arrival.clients"] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 } },
}
