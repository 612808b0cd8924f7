-- Figure 20: energy efficiency of MICA on the same server as Mega-KV's, for the comparison with fig18.lua. As in sec.
-- 8.1, its requests are in local memory, and hyper-threading is off. The index and the log are real; beyond the caches,
-- it makes no difference that there are fewer keys than the paper's 64 GB hold.
return {
  name = "megakv-fig20",
  system = { kind = "mica", log = "64MiB", buckets = 65536, feed = "memory" },
  node = { sockets = 2, power = 87.0 - 2 * 15, cpu = "xeon-e5-2650v2", nic = "xl710-2x40g" },
  workload = { preset = "megakv-a", keys = 8e6, get = 0.95, dist = { zipf = 0.99 }, arrival = "saturate" },
  run = { duration = "2ms" },
  sweep = { ["workload.preset"] = { "megakv-a", "megakv-b", "megakv-c", "megakv-d" },
            ["workload.dist"] = { "uniform", "zipf" } },
}
