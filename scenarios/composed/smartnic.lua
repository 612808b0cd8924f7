-- A SmartNIC in front of a host, which no built-in store is: cores of an NVIDIA BlueField-3 answer GETs of popular keys from the card's own
-- memory, and what they lack crosses PCIe to the store of the host. A GET that the host answered leaves its item on the card, and a SET
-- takes its key out. A core works as long for a request as one of MICA (scenarios/composed/mica.lua), on either side.
return {
  name = "composed_smartnic",
  system = {
    kind = "composed", pipelines = 8,
    index = { kernel = "mica" },
    values = { kernel = "slab" },
    hot = { kernel = "set-assoc", memory = "card", size = "64MiB" },
    stages = {
      { name = "receive", on = "nic.rx" },
      { name = "card", on = "card.cpu", cores = 2, pool = "card", cycles = 283, burst = 4, overlap = 8,
        does = { "parse", "hot.search", "hot.erase", "hot.read" } },
      { name = "to host", on = "pcie.up", bytes = 32, when = "cold" },
      { name = "host", on = "cpu", cores = 2, cycles = 283, burst = 4, overlap = 8, when = "cold",
        does = { "search", "write", "insert", "erase", "compare", "read" } },
      { name = "to card", on = "pcie.down", bytes = 128, when = "cold" },
      { name = "fill", on = "card.cpu", cores = 2, pool = "card", cycles = 50, when = { "get", "cold" }, does = "hot.fill" },
      { name = "send", on = "nic.tx" },
    },
  },
  node = { cpu = "xeon-8592plus", dram = "ddr5-5600", nic = "bluefield-3-400g", pcie = "pcie5-x16-bluefield-3",
           card_cpu = "bluefield-3-cores", card_dram = "bluefield-3-ddr5", sockets = 1 },
  workload = { keys = 1e6, key = 16, value = 100, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, fill = "at_once",
               arrival = { poisson_mops = 20 } },
  run = { duration = "10ms" },
}
