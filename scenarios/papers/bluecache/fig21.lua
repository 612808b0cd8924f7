-- Figure 21: BlueCache in front of MySQL with BG, by the number of active users. A user has 20 GB / 6 million
-- (bluecache.bg_bench.ws), of which the scenario holds a hundredth: the database, and with it the misses of the caches
-- that are compared, do not notice.
local users = { 4e6, 4.5e6, 5e6, 5.5e6, 5.75e6, 6e6 }
local keys = {}
for i, count in ipairs(users) do
  keys[i] = math.floor(count * 20e9 / 6e6 / 1540 / 100)
end
return {
  name = "bluecache-fig21",
  system = { kind = "bluecache", index = "64MiB", dram = "0B", flash = "512MiB" },
  node = { database = "mysql-bg" },
  workload = {
    keys = 119e3, -- 5.5 million users
    key = 32,
    value = 1508, -- pairs of 1.54 KB: bluecache.bg_bench.pair
    dist = { zipf = 0.73 }, -- bg_bench.zipf is the 0.27 of Dan's form, rank^-(1 - 0.27)
    get = 0.999, -- bg_bench.update: the others are updates
    arrival = { clients = 128 },
  },
  run = { duration = "500ms" },
  sweep = { ["workload.keys"] = keys },
}
