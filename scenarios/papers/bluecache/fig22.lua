-- Figure 22: BlueCache with the capacity of memcached (bluecache.exp2.cap), read only, by capacity misses. Cache, keys and
-- blocks of the flash are a thousandth, so that the log is written anew within seconds.
return {
  name = "bluecache-fig22",
  system = { kind = "bluecache", index = "64MiB", dram = "0B", flash = "15MiB", chunk = 16 },
  node = { database = "mysql-bg", flash = { base = "bluecache-flash", pages_per_block = 2 } },
  workload = {
    keys = 11e3,
    key = 32,
    value = 1508,
    dist = { zipf = 0.73 },
    get = 1,
    set = 0,
    arrival = { clients = 128 },
  },
  run = { duration = "2s" },
  sweep = { ["workload.keys"] = { 8000, 9000, 9500, 10e3, 10.5e3, 11e3, 12e3, 13e3 } },
}
