-- Table 6: MICA on two Xeon E5-2680 with four dual-port NICs of 10 Gbit/s, and 95 % GETs of keys and values of 8 bytes
-- (Lim et al., NSDI 2014). The paper's MICA has more keys, which makes no difference beyond the caches.
-- The limit study without packets is system.feed="memory".
return {
  name = "memcachedgpu-table6-mica",
  system = { kind = "mica", log = "64MiB", buckets = 65536 },
  node = { sockets = 2, network = "direct-cable-10g" },
  workload = { keys = 8e6, key = 8, value = 8, get = 0.95, connections = 64, arrival = "saturate" },
  run = { duration = "2ms" },
  sweep = { ["system.client_assisted"] = { true, false } },
}
