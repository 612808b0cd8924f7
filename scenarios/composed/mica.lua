-- A store like MICA (Lim et al., NSDI 2014) as a composition: each of eight cores of a socket owns a part of the keys, polls the
-- packets that clients address to it, and serves up to 32 at a time. The cycles are those of the built-in store.
return {
  name = "composed_mica",
  system = {
    kind = "composed", pipelines = 8, spread = "keys", outstanding = 2048,
    index = { kernel = "mica" },
    stages = {
      { name = "receive", on = "nic.rx" },
      { name = "threads", on = "cpu", cycles = 283, burst = 32, overlap = 10, does = { "parse", "search", "insert" } },
      { name = "send", on = "nic.tx" },
    },
  },
  -- Prefetched lines occupy the buffers of a core for all of their time, so that compute hides none of it, as in the built-in store.
  node = { cpu = { base = "xeon-e5-2680", lookahead = "0ns" }, dram = "ddr3-1600-e5v2", nic = "x520-4x10g-mica",
           network = "direct-cable-10g", sockets = 2 },
  workload = { keys = 1e6, key = 8, value = 8, get = 0.95, set = 0.05, per_frame = 1, dist = { zipf = 0.99 },
               arrival = { poisson_mops = 30 } },
  run = { duration = "10ms" },
}
