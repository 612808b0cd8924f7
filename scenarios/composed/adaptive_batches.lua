-- Batches that grow with the load. A GPU serves large batches at a higher rate, but the first requests of a batch wait for its last
-- ones. A fixed limit has to be chosen for the highest load. Here a policy looks at the store every 200 us and lets a batch fill for as
-- long as the batch before it is served: the stages tell how long that takes, and the load says how many requests come meanwhile.
-- Mean latency at three loads, and the throughput of an overload with 100 Mops, of this file and of two fixed limits without a policy:
--
--                        5 Mops      20 Mops     60 Mops     overload
--     this policy        50.7 us     65.4 us     245.5 us    58.2 Mops
--     count = 64         48.3 us     overload    overload    12.7 Mops
--     count = 4096       157.3 us    203.7 us    245.5 us    63.8 Mops
return {
  name = "composed_adaptive_batches",
  system = {
    kind = "composed", pipelines = 2,
    index = { kernel = "cuckoo", memory = "gpu" },
    values = { kernel = "slab" },
    batch = { count = 4096, timeout = "200us" }, -- The policy stays at or below the count, for which the buffers have room.
    policy_every = "200us",
    policy = function(state)
      local served_us = 0 -- The time of a batch in the stages behind its queue.
      for _, name in ipairs { "copy in", "search", "copy out", "answer" } do
        served_us = served_us + (state.stages[name].mean_us or 0) -- A stage without jobs has no mean.
      end
      local per_us = state.offered_mops / 2 -- Requests that come to each of the two pipelines.
      return { batch = { count = math.max(32, math.min(4096, math.ceil(per_us * served_us))) } }
    end,
    stages = {
      { name = "receive", on = "nic.rx" },
      { name = "collect", on = "cpu", cores = 4, cycles = 150, does = { "parse", "write" } },
      { name = "copy in", on = "pcie.down", bytes = 8 },
      { name = "search", on = "gpu", streams = 2, does = { "search", "insert", "erase" } },
      { name = "copy out", on = "pcie.up", bytes = 4 },
      { name = "answer", on = "cpu", cores = 4, cycles = 150, overlap = 8, does = { "compare", "read" } },
      { name = "send", on = "nic.tx" },
    },
  },
  node = { sockets = 1, cpu = "epyc-9654", dram = "ddr5-4800-genoa", nic = "connectx-7-400g", gpu = "h200" },
  workload = { keys = 1e6, key = 16, value = 100, get = 0.95, set = 0.05, dist = { zipf = 0.99 },
               fill = "at_once", arrival = { poisson_mops = 20 } },
  run = { duration = "20ms" },
}
