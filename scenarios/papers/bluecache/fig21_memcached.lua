-- Figure 21: memcached of 15 GB in front of MySQL with BG, by the number of active users, who are as many as in
-- fig21.lua. Cache and keys are a thousandth, so that the cache turns over within seconds.
local users = { 4e6, 4.5e6, 5e6, 5.5e6, 5.75e6, 6e6 }
local keys = {}
for i, count in ipairs(users) do
  keys[i] = math.floor(count * 20e9 / 6e6 / 1540 / 1000)
end
return {
  name = "bluecache-fig21-memcached",
  system = {
    kind = "memcached",
    network = "tcp",
    loopback = true, -- sec. 6.4.1: on the application's server, which is faster than over 1 Gbit/s
    threads = 4, -- memcached's default
    cycles_ratio = 1.282, -- a Westmere
    entries = 8660, -- 15 GiB of items that take 1856 bytes of a slab each, and a thousandth of them
    bump = "60ms", -- a thousandth of memcached's 60 s
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
    keys = 10.8e3, -- 5 million users
    key = 32,
    value = 1508,
    dist = { zipf = 0.73 },
    get = 0.999, -- bg_bench.update
    arrival = { clients = 48 }, -- bluecache.bg_bench.threads.a
  },
  run = { duration = "2s" },
  sweep = { ["workload.keys"] = keys },
}
