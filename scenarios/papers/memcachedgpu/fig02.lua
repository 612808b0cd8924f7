-- Figure 2: share of GETs that miss, by ways of the set-associative table and for memcached's chains, with entries for
-- 80 % of the keys. 95 % GET, 5 % SET; a GET that misses is followed by a SET of its key. After every key was stored
-- once, as many requests as there are keys follow. The paper replays a trace of 10 million requests through the table
-- alone; here a tenth of them pass through the store, slowly enough for its handler of SETs. Entries have room for 16
-- bytes, because misses depend on the number of entries. miss_ratio_bench of kernels/memcachedgpu replays all of them,
-- without a store.
return {
  name = "memcachedgpu-fig02",
  system = { kind = "memcachedgpu", receive = "gpu", entries = 800e3, key_room = 16, ways = 16, misses = "set",
             batch_timeout = "1ms" },
  node = { cpu = "core-i7-4770k", dram = "ddr3-1600-i7-4770k", gpu = "tesla-k20c", pcie = "pcie2-x16-k20c", nic = "x520-t2",
           network = "direct-cable-10g" },
  workload = { keys = 1e6, key = 16, value = 2, get = 0.95, set = 0.05, dist = { zipf = 0.99 },
               -- A curve is measured from its beginning, as a trace is.
               arrival = { curve = { { time = "0s", rate = 0.1 }, { time = "10s", rate = 0.1 } } } },
  run = { duration = "10s" },
  sweep = { ["system.ways"] = { 1, 2, 4, 8, 16 }, ["system.index"] = { "sets", "chained" } },
}
