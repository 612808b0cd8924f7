-- Figure 20: energy efficiency of MICA on the same server as Mega-KV's, for the comparison with fig18.lua. As in sec.
-- 8.1, its requests are in local memory, and hyper-threading is off. The index and the log are real; beyond the caches,
-- it makes no difference that there are fewer keys than the paper's 64 GB hold. Requests are served one by one, so that no
-- stalls overlap: the paper measured a CPI of 5.3 (sec. 2.1.2), and states at most 0.75 of tasks that do not wait for memory. A GET's
-- 162 cycles without stalls then have at least 216 instructions, which take 1,145 cycles at that CPI; bursts of 32 take 376 cycles,
-- and single requests 619. The platform has Mega-KV's two cards, which draw their 21 W each without work (tesla-k40c.lua).
return {
  name = "megakv-fig20",
  system = { kind = "mica", log = "64MiB", buckets = 65536, feed = "memory", burst = 1 },
  node = { sockets = 2, power = 87.0 - 2 * 15 + 2 * 21, cpu = "xeon-e5-2650v2", nic = "xl710-2x40g" },
  workload = { preset = "megakv-a", keys = 8e6, get = 0.95, dist = { zipf = 0.99 }, arrival = "saturate" },
  run = { duration = "2ms" },
  sweep = { ["workload.preset"] = { "megakv-a", "megakv-b", "megakv-c", "megakv-d" },
            ["workload.dist"] = { "uniform", "zipf" } },
}
