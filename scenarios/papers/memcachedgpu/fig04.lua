-- Figure 4: power of the server and of the Tesla K20c over the rate of GETs, by threads of GNoM-post. The paper has one
-- thread below 10.1 Mops, two below 12.9 and four from there on.
-- Table and keys are a 64th of the paper's 8.3 and 1.3 million, and the table is as full; no cache of the model would hold them.
-- The 84 W of the idle server are stated with its memory, so that the cpu's watts are what the host draws beyond them.
return {
  name = "memcachedgpu-fig04",
  system = { kind = "memcachedgpu", program = "published", streams = 28, receive = "gpu", post_threads = 1, entries = 130e3 },
  node = { cpu = { base = "core-i7-4770k", pstates = { { clock = "3.5GHz", idle = "0W", one_core = "17W", all_cores = "67W" } } },
           dram = { base = "ddr3-1600-i7-4770k", idle_power = "84W", busy_power = "84W" }, gpu = "tesla-k20c", pcie = "pcie2-x16-k20c", nic = "x520-t2",
           network = "direct-cable-10g" },
  workload = { keys = 20e3, key = 16, value = 2, get = 1, set = 0, arrival = { fixed_mops = 9 } },
  run = { duration = "5ms" },
  sweep = { ["workload.arrival.fixed_mops"] = { 1, 2, 4, 6, 8, 9, 10, 11, 12, 12.9 }, ["system.post_threads"] = { 1, 2, 4 } },
}
