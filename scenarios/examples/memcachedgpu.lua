-- MemcachedGPU (Hetherington et al., SoCC 2015) on a Tesla K20c: the NIC writes packets into GPU memory, and one kernel serves 512
-- of them. The load is half of what the 10 Gbit/s port can take. A batch that is not full waits for at most 100 us.
return {
  name = "memcachedgpu",
  system = { kind = "memcachedgpu", batch = 512, batch_timeout = "100us" },
  node = { cpu = "core-i7-4770k", dram = "ddr3-1600-i7-4770k", gpu = "tesla-k20c", pcie = "pcie2-x16-k20c", nic = "x520-t2",
           network = "direct-cable-10g" },
  workload = { keys = 200e3, key = 16, value = 2, get = 1, set = 0, dist = { zipf = 0.99 }, arrival = { poisson_mops = 6 } },
  run = { duration = "20ms" },
}
