-- Table 6: throughput, energy and cost efficiency of MemcachedGPU on the Tesla K20c at the two operating points that
-- the paper gives; table3_ngd.lua and table5.lua have the points of the GTX 750 Ti. Power is measured at the wall.
-- GNoM-post has two threads, which draw the quarter of the server's power that is published for two (sec. 5.3), not the
-- third published for four; the idle server draws 84 W and the GPU 71 W. Table and keys are a 64th of the paper's 8.3
-- and 1.3 million, and the table is as full; no cache of the model would hold them.
-- The 84 W of the idle server are stated with its memory, so that the cpu's watts are what the host draws beyond them.
return {
  name = "memcachedgpu-table6",
  system = { kind = "memcachedgpu", program = "published", streams = 28, receive = "gpu", post_threads = 2, entries = 130e3 },
  node = { cpu = { base = "core-i7-4770k", pstates = { { clock = "3.5GHz", idle = "0W", one_core = "17W", all_cores = "67W" } } },
           dram = { base = "ddr3-1600-i7-4770k", idle_power = "84W", busy_power = "84W" }, gpu = "tesla-k20c", pcie = "pcie2-x16-k20c", nic = "x520-t2",
           network = "direct-cable-10g" },
  workload = { keys = 20e3, key = 16, value = 2, get = 1, set = 0, arrival = { fixed_mops = 12.92 } },
  run = { duration = "5ms" },
  sweep = { ["workload.arrival.fixed_mops"] = { 9, 12.92 } },
}
