-- Figure 23: memcached in front of MySQL, by coherence misses, as in fig23.lua. All keys fit.
return {
  name = "bluecache-fig23-memcached",
  system = {
    kind = "memcached",
    network = "tcp",
    loopback = true, -- sec. 6.4.1: on the application's server, which is faster than over 1 Gbit/s
    threads = 4, -- memcached's default
    cycles_ratio = 1.282, -- a Westmere
    entries = 60e3, -- more than there are keys
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
    preset = "bg-very-low",
    keys = 20e3,
    key = 32,
    value = 1508,
    dist = { zipf = 0.73 },
    get = 0.94, -- the others are updates
    arrival = { clients = 48 }, -- bluecache.bg_bench.threads.a
  },
  run = { duration = "3s" },
  sweep = { ["workload.get"] = { 1, 0.99, 0.98, 0.97, 0.96, 0.94, 0.92, 0.88 } },
}
