-- Four cores of a SmartNIC serve everything out of its memory.
return {
  name = "card-cores serve card_cpu",
  system = {
    kind = "composed",
    index = { kernel = "cuckoo", memory = "card" },
    values = { kernel = "slab", memory = "card" },
    stages = {
      { name = "receive", on = "nic.rx" },
      { name = "serve", on = "card.cpu", cores = 4, cycles = 2000, does = { "parse", "search", "write", "insert", "erase", "read" } },
      { name = "send", on = "nic.tx" },
    },
  },
  node = { card_cpu = "bluefield-3-cores", card_dram = "bluefield-3-ddr5" },
  workload = { keys = 1e5, key = 16, value = 24, arrival = "saturate" },
  run = { duration = "20ms" },
}
