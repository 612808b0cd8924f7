-- Lookups that move from cores to a GPU as the load grows. Both use the same structures, in the memory that they share. Cores answer a
-- batch of lookups sooner than the GPU, whose kernels take long to start, but keep up with 10 Mops only. A policy looks at the store
-- every 300 us: as long as the cores have time left, they get all lookups, and otherwise as many as keep them half busy.
-- Mean latency at three loads, and of the same store without a policy, with all lookups on either side:
--
--                        4 Mops      12 Mops     20 Mops
--     this policy        86.9 us     267 us      336 us
--     share = 1          86.9 us     overload    overload
--     share = 0          332 us      363 us      415 us
--
-- Near 9 Mops, cores that nearly keep up are still sooner alone (108 us, 239 us with the policy).
return {
  name = "composed_routes",
  system = {
    kind = "composed",
    index = { kernel = "cuckoo" },
    values = { kernel = "slab", size = "46MiB" },
    batch = { count = 4096, timeout = "20us", buffers = 4, before = "parse" },
    policy_every = "300us",
    policy = function(state)
      local cores = state.stages["look up"]
      if cores.share == 1 and cores.busy_frac < 0.95 then return nil end
      return { stages = { ["look up"] = { share = math.max(0.05, math.min(1, 0.5 * cores.share / cores.busy_frac)) } } }
    end,
    stages = {
      { name = "parse", on = "cpu", pool = "front", instructions = 72.4, bytes = 24, does = { "parse", "write" } },
      { name = "store", on = "cpu", pool = "front", instructions = 262.6, when = "set", does = { "insert", "erase" } },
      { name = "look up", on = "cpu", cores = 2, route = "cores", share = 1, of = "get", instructions = 291.8 + 137 + 204.1,
        does = { "search", "compare", "read" } },
      { name = "search", on = "gpu", route = "gpu", of = "get", instructions = 291.8 + 137 + 204.1,
        does = { "search", "compare", "read" } },
      { name = "answer", on = "cpu", instructions = 7.4 },
    },
  },
  node = { cpu = "a10-7850k", gpu = "a10-7850k-gpu", dram = "ddr3-1333-a10-7850k", sockets = 1 },
  workload = { keys = 500e3, key = 16, value = 64, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, arrival = { poisson_mops = 2 } },
  run = { duration = "20ms" },
}
