-- Table 5: the offline limit study. Packets of 96 bytes come from host memory, and responses are not sent.
-- Table and keys are a 64th of the paper's, so that the table is as full and fits the smallest of the three cards.
-- The authors' program has 28 streams (NUM_C_KERNELS of gpu_common.h).
return {
  name = "memcachedgpu-table5",
  system = { kind = "memcachedgpu", program = "published", streams = 28, receive = "host", fill = "pre", feed = "memory", post_threads = 4, entries = 130e3 },
  node = { cpu = "core-i7-4770k", dram = "ddr3-1600-i7-4770k", gpu = "gtx-750ti", pcie = "pcie3-x16-750ti", nic = "x520-t2",
           network = "direct-cable-10g" },
  workload = { keys = 20e3, key = 16, value = 2, get = 1, set = 0, arrival = "saturate" },
  run = { duration = "5ms" },
  sweep = { ["node.gpu"] = { "tesla-k20c", "gtx-titan", "gtx-750ti" } },
}
