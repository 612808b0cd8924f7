-- MemcachedGPU (Hetherington et al., SoCC 2015) without a network, as in its offline limit study: packets lie in host memory, are
-- copied to a Tesla K20c in batches of 512, and responses are filled but not sent. All numbers are those of the built-in store.
return {
  name = "composed_memcachedgpu_offline",
  system = {
    kind = "composed", outstanding = 32 * 512,
    index = { kernel = "set-assoc", memory = "gpu", size = "16MiB" },
    values = { kernel = "slab" },
    batch = { count = 512, timeout = "100us", buffers = 32, before = "launch" }, -- One batch for each of 32 streams.
    stages = {
      -- Six CUDA calls of 2.05 us at 2.66 GHz, on a core of 3.5 GHz.
      { name = "launch", on = "cpu", ns = 9350, per = "batch" },
      -- A packet and its description. The latency of a launch was measured with its copies, so no batch waits for them apart.
      { name = "copy in", on = "pcie.down", bytes = 88, background = true },
      -- A thread block serves 32 packets with two threads each. It takes 9740 cycles and 2.13 accesses that wait for one another,
      -- and a multiprocessor 60 cycles for a packet. Shared memory leaves room for two blocks of the 16 on a multiprocessor.
      { name = "kernel", on = "gpu", streams = 32, block = 32, threads = 2, block_memory = 21792, cycles = 60,
        work = { { cycles = 9740, lines = 2.13, per = "block" } }, does = { "parse", "search" } },
      { name = "copy out", on = "pcie.up", bytes = 92 }, -- The head of the response, and where its item is.
      -- Two threads read the items. Key and value are the 18 bytes that the operation streams itself.
      { name = "answer", on = "cpu", cores = 2, ns = 7.1, bytes = 92 - 18, does = { "read" } },
    },
  },
  -- Each item is a miss that a core waits for: the built-in store leaves the last-level cache out.
  node = { cpu = { base = "core-i7-4770k", llc = "0B", lookahead = "0ns" }, dram = "ddr3-1600-i7-4770k", gpu = "tesla-k20c",
           pcie = "pcie2-x16-k20c", nic = "x520-t2", sockets = 1 },
  workload = { keys = 200e3, key = 16, value = 2, get = 1, set = 0, per_frame = 1, dist = { zipf = 0.99 },
               arrival = { poisson_mops = 10 } },
  run = { duration = "10ms" },
}
