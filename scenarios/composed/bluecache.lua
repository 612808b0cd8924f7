-- The GET path of BlueCache (Xu et al., PVLDB 10(4), 2016) on one node as a composition: a request of a header and a key crosses PCIe
-- to the card, whose FPGA finds the key in an index in the card's memory. The page of the pair is read from flash, and header and
-- value cross PCIe to the host. The profiles state the sources of the card's numbers.
return {
  name = "composed_bluecache",
  system = {
    kind = "composed", outstanding = 1024,
    index = { kernel = "bluecache", memory = "card", size = "64MiB" },
    values = { kernel = "log", memory = "flash", size = "1GiB" },
    -- The host collects requests in a DMA segment of 8 KiB until those before them are answered, and sends full ones at once.
    batch = { count = 146, while_busy = true, buffers = 16, apart = "search" },
    stages = {
      { name = "to the card", on = "pcie.down", bytes = 24 + 32 },
      -- Accesses to random places of the memory take 50 ns, one after another (bluecache.hw.dram.rand): the bucket is read, and its
      -- timestamp written. These are 13 clocks of 125 MHz.
      { name = "search", on = "fpga", interval = 13, does = { "search" } },
      { name = "read", on = "flash", does = { "read" } },
      { name = "to the host", on = "pcie.up", bytes = 24 + 8104 },
    },
  },
  node = { sockets = 1, fpga = "virtex7-vc707", pcie = "pcie1-x8-vc707", flash = "bluecache-flash" },
  workload = { keys = 40e3, key = 32, value = 8104, get = 1, set = 0, per_frame = 1, arrival = "saturate" },
  run = { duration = "1s" },
}
