-- MemcachedGPU with GNoM (Hetherington et al., SoCC 2015): the NIC writes packets into the memory of the GPU, over PCIe and past
-- host memory. A thread of the driver sees each packet come, another one launches a kernel for 512 of them, and two more fill and
-- send the responses. Saturating clients send a packet when the port is idle. All numbers are those of the built-in store;
-- memcachedgpu_offline.lua explains the kernel.
return {
  name = "composed_gnom",
  system = {
    kind = "composed", outstanding = 64 * 512, backlog = 1,
    index = { kernel = "set-assoc", memory = "gpu", size = "16MiB" },
    values = { kernel = "slab" },
    batch = { count = 512, timeout = "100us", buffers = 33, before = "launch" },
    stages = {
      { name = "rx", on = "nic.rx", memory = "gpu", ports = 1 },
      { name = "receive", on = "cpu", ns = 5.2 },
      { name = "launch", on = "cpu", ns = 4670, per = "batch" }, -- Three CUDA calls: nothing is copied in.
      { name = "kernel", on = "gpu", streams = 32, block = 32, threads = 2, block_memory = 21792, cycles = 60,
        work = { { cycles = 9740, lines = 2.13, per = "block" } }, does = { "parse", "search" } },
      { name = "copy out", on = "pcie.up", bytes = 92 },
      -- A thread fills all responses of a batch before it sends the first one: two stages of one pool.
      { name = "fill", on = "cpu", cores = 2, pool = "post", ns = 7.1, bytes = 92 - 18, does = { "read" } },
      { name = "post", on = "cpu", cores = 2, pool = "post", ns = 5.2 },
      { name = "tx", on = "nic.tx", ports = 2, bytes = 16 }, -- Each thread has a port. The key comes back with the value.
    },
  },
  node = { cpu = { base = "core-i7-4770k", llc = "0B", lookahead = "0ns" }, dram = "ddr3-1600-i7-4770k", gpu = "tesla-k20c",
           pcie = "pcie2-x16-k20c", nic = "x520-t2", network = "direct-cable-10g", sockets = 1 },
  workload = { keys = 200e3, key = 16, value = 2, get = 1, set = 0, per_frame = 1, dist = { zipf = 0.99 },
               arrival = { poisson_mops = 6 } },
  run = { duration = "20ms" },
}
