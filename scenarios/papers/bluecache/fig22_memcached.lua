-- Figure 22: memcached in front of MySQL, read only, by capacity misses. Cache and keys are a thousandth.
return {
  name = "bluecache-fig22-memcached",
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
    keys = 11e3,
    key = 32,
    value = 1508,
    dist = { zipf = 0.73 },
    get = 1,
    set = 0,
    arrival = { clients = 48 }, -- bluecache.bg_bench.threads.a
  },
  run = { duration = "2s" },
  sweep = { ["workload.keys"] = { 8000, 9000, 9500, 10e3, 10.5e3, 11e3, 12e3, 13e3 } },
}
