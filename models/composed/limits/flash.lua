-- Values of 1000 bytes lie on two cards of flash, whose buses GETs fill.
return {
  name = "flash read flash",
  system = {
    kind = "composed", outstanding = 1024,
    index = { kernel = "cuckoo" },
    values = { kernel = "log", memory = "flash" },
    stages = {
      { name = "receive", on = "nic.rx" },
      { name = "search", on = "cpu", cores = 2, cycles = 300, does = "search" },
      { name = "read", on = "flash", does = "read" },
      { name = "send", on = "nic.tx" },
    },
  },
  node = { sockets = 1, flash = { base = "bluecache-flash", cards = 2 } },
  workload = { keys = 1e5, key = 16, value = 1000, get = 1, set = 0, dist = "uniform", arrival = "saturate" },
  run = { duration = "400ms" },
}
