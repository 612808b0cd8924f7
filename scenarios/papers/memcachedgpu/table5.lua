-- Table 5: the offline limit study. Packets of 96 bytes come from host memory, and responses are not sent.
-- Table and keys are a 64th of the paper's, so that the table is as full and fits the smallest of the three cards.
-- The authors' program has 28 streams (NUM_C_KERNELS of gpu_common.h).
-- The paper adds the design power of the NICs that so many packets would need (sec. 5.5), but it does not state this power. idle_power may
-- be 0 to 60 W, for two more cards of two ports. No packet passes the NIC, so that busy_power, which bounds it, is never drawn.
-- The 84 W of the idle server are stated with its memory, so that the cpu's watts are what the host draws beyond them.
return {
  name = "memcachedgpu-table5",
  system = { kind = "memcachedgpu", program = "published", streams = 28, receive = "host", fill = "pre", feed = "memory", post_threads = 4, entries = 130e3 },
  node = { cpu = { base = "core-i7-4770k", pstates = { { clock = "3.5GHz", idle = "0W", one_core = "17W", all_cores = "67W" } } },
           dram = { base = "ddr3-1600-i7-4770k", idle_power = "84W", busy_power = "84W" }, gpu = "gtx-750ti", pcie = "pcie3-x16-750ti", nic = { base = "x520-t2", idle_power = "0W", busy_power = "60W" },
           network = "direct-cable-10g" },
  workload = { keys = 20e3, key = 16, value = 2, get = 1, set = 0, arrival = "saturate" },
  run = { duration = "5ms" },
  sweep = { ["node.gpu"] = { "tesla-k20c", "gtx-titan", "gtx-750ti" } },
}
