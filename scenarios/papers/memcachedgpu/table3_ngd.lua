-- Table 3: GETs over a port of 10 Gbit/s by size of the key, on the GTX 750 Ti without GPUDirect (NGD).
-- The paper's table of 8.3 million entries with room for keys of 250 bytes does not fit the card's 2 GB; how it was made to
-- is not published. Here table and keys are a 64th of it, and the table is as full.
-- Two post threads, which suffice below 12.9 Mops (sec. 5.3).
-- The 84 W of the idle server are stated with its memory, so that the cpu's watts are what the host draws beyond them.
return {
  name = "memcachedgpu-table3-ngd",
  system = { kind = "memcachedgpu", program = "published", streams = 28, receive = "host", fill = "pre", post_threads = 2, entries = 130e3 },
  node = { cpu = { base = "core-i7-4770k", pstates = { { clock = "3.5GHz", idle = "0W", one_core = "17W", all_cores = "67W" } } },
           dram = { base = "ddr3-1600-i7-4770k", idle_power = "84W", busy_power = "84W" }, gpu = "gtx-750ti", pcie = "pcie3-x16-750ti", nic = "x520-t2",
           network = "direct-cable-10g" },
  workload = { keys = 20e3, key = 16, value = 2, get = 1, set = 0, arrival = { fixed_mops = 12.86 } },
  run = { duration = "5ms", warmup_limit = "20ms" },
  sweep = { ["workload.key"] = { 16, 32, 64, 128 } },
}
