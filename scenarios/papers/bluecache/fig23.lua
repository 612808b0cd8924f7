-- Figure 23: BlueCache in front of MySQL, by coherence misses: a GET misses if its key was updated since. The share of
-- misses is that of updates, and more if several threads query for the same key.
return {
  name = "bluecache-fig23",
  system = { kind = "bluecache", dram = "0B", flash = "256MiB" },
  node = { database = "mysql-bg" },
  workload = {
    keys = 20e3,
    key = 32,
    value = 1508,
    dist = { zipf = 0.73 },
    get = 0.94, -- the others are updates
    arrival = { clients = 128 },
  },
  run = { duration = "3s" },
  sweep = { ["workload.get"] = { 1, 0.99, 0.98, 0.97, 0.96, 0.94, 0.92, 0.88 } },
}
