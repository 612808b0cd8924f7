-- Figure 23: BlueCache in front of MySQL, by coherence misses: a GET misses if an update has deleted its key since. The shares
-- among the actions are BG's; an update deletes 2.4 of the keys that they read. All keys fit, so that no count of pairs enters;
-- figures 21 and 22 count theirs by bluecache.bg_bench.ws, which is 2.2 pairs of a user and not one for each of BG's actions.
return {
  name = "bluecache-fig23",
  system = { kind = "bluecache", index = "64MiB", dram = "0B", flash = "256MiB" },
  node = { database = "mysql-bg" },
  workload = {
    preset = "bg-very-low",
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
