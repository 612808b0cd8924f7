-- Figures 6 and 7: the round trip at 4 Mops while another task of 256 blocks of 1024 threads runs on the same Tesla K20c, by
-- the number of kernels that its blocks are divided over.
-- The authors' task copies two vectors of 256 x 1024 x 4 numbers before its first kernel (cuda_stream_manager.cpp).
-- Table and keys are a 64th of the paper's 8.3 and 1.3 million, and the table is as full; no cache of the model would hold them.
return {
  name = "memcachedgpu-fig06",
  system = { kind = "memcachedgpu", program = "published", streams = 28, receive = "gpu", post_threads = 1, entries = 130e3, background_blocks = 256,
             background_threads = 1024, background_copy = "4MiB", background_kernels = 1, background_time = "32ms", background_start = "5ms" },
  node = { cpu = "core-i7-4770k", dram = "ddr3-1600-i7-4770k", gpu = "tesla-k20c", pcie = "pcie2-x16-k20c", nic = "x520-t2",
           network = "direct-cable-10g" },
  workload = { keys = 20e3, key = 16, value = 2, get = 1, set = 0, arrival = { fixed_mops = 4 } },
  run = { duration = "80ms" },
  sweep = { ["system.background_kernels"] = { 1, 2, 4, 8, 16, 32 } },
}
