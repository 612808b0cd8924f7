-- Figure 18: 64-byte reads over one link that cores of the host perform for the card. With 0 cores the card reads by
-- itself.
return {
  name = "kvdirect-fig18",
  system = { kind = "kvdirect", memory = "64MiB", index = 1, inline = 15, dispatch = 0, in_flight = 8192, station = 65536 },
  node = { pcie = { base = "catapult-pcie3-x8", endpoints = 1 } },
  workload = { keys = 2e6, key = 8, value = 2, get = 1, set = 0, arrival = "saturate" },
  run = { duration = "2ms" },
  sweep = { ["system.gather_cores"] = { 0, 1, 2, 3, 4 } },
}
