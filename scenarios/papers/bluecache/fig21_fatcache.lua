-- Figure 21: Fatcache in front of MySQL with BG, by the number of active users. All pairs fit on its SSD, and a hundredth of
-- them is enough, as in fig21.lua.
local users = { 4e6, 4.5e6, 5e6, 5.5e6, 5.75e6, 6e6 }
local keys = {}
for i, count in ipairs(users) do
  keys[i] = math.floor(count * 20e9 / 6e6 / 1540 / 100)
end
return {
  name = "bluecache-fig21-fatcache",
  system = {
    kind = "fatcache",
    loopback = true,
    cycles_ratio = 1.282, -- a Westmere
    entries = 200e3, -- more than there are keys
    slab_memory = "1MiB", -- as in fig19.lua
    disk = "1GiB",
  },
  node = {
    sockets = 1,
    cpu = "xeon-x5670",
    dram = "ddr3-1333-x5670",
    nic = "intel-82576",
    network = "direct-cable-1g",
    database = "mysql-bg",
  },
  workload = {
    keys = 108e3, -- 5 million users
    key = 32,
    value = 1508,
    dist = { zipf = 0.73 },
    get = 0.999, -- bg_bench.update
    arrival = { clients = 48 }, -- bluecache.bg_bench.threads.c
  },
  run = { duration = "500ms" },
  sweep = { ["workload.keys"] = keys },
}
