-- Table 4: random reads of whole pages of 8 KiB by one card of BlueCache, whose profile has the card's buses and chips but none
-- of the table's rates. A pair of 8136 bytes is alone in its page. The rates of Fatcache's SSD are inputs of its profile, and
-- memcached's 64 GB/s are the six channels of DDR3-1333 that two sockets have in ddr3-1333-x5670.
return {
  name = "bluecache-table4",
  system = { kind = "bluecache", index = "64MiB", dram = "0B", flash = "2GiB" },
  workload = { keys = 100e3, key = 32, value = 8104, get = 1, set = 0, arrival = "saturate" },
  run = { duration = "100ms" },
}
