-- The node of production.lua with the drives of today on the board of the paper. Use the closed form (kvcast predict). Two
-- drives read 2.4 million records of 8 KB a second, three of them 3.5 million at 84 W, and each holds 12.8 TB. Their interface
-- is the limit: a record begins anywhere in a sector of 4 KiB, so that 12 KB are fetched for 8. What the node does not have is
-- DRAM for the index, 16 bytes a key and 16 GB for 8 TB of such pairs, and pointers: 41 bits address 2 TB of flash.
return {
  name = "bluecache-production-today",
  system = { kind = "bluecache", index = "64MiB", dram = "0B", flash = "400GiB", outstanding = 4096 },
  node = { flash = { base = "micron-9550-max", cards = 3 }, pcie = "pcie5-x16" },
  workload = { keys = 1e6, key = 32, value = 8104, get = 1, set = 0, arrival = "saturate" },
  run = { duration = "10ms" },
}
