-- An FPGA finds each key in several lines of the card's slow memory.
return {
  name = "card-memory find card_dram",
  system = {
    kind = "composed",
    index = { kernel = "chained", memory = "card" },
    stages = {
      { name = "receive", on = "nic.rx" },
      { name = "find", on = "fpga", cycles = 10, queue = 100, does = { "search", "insert" } },
      { name = "send", on = "nic.tx" },
    },
  },
  node = { fpga = { base = "catapult-stratix-v", dram_rate = "1GB/s" } },
  workload = { keys = 1e5, key = 16, value = 24, arrival = "saturate" },
  run = { duration = "20ms" },
}
