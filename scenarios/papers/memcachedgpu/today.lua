-- The same store on today's hardware: an H200 with a port of 100 or 400 Gbit/s, on the cores of the measured machine.
-- The paper has no such figure. With 100 Gbit/s the responses fill the port; with 400 Gbit/s the single thread of the
-- driver is the limit.
return {
  name = "memcachedgpu-today",
  system = { kind = "memcachedgpu", receive = "gpu", batch = 2048, post_threads = 8, receive_memory = "4GiB", entries = 2e6 },
  node = { machine = "../../../validate/measured/h200-pcie5/machine.lua", nic = "connectx-5-100g", gpu = "h200",
           pcie = "pcie5-x16", memcachedgpu_costs = "memcachedgpu-costs-h200", network = "direct-cable" },
  workload = { keys = 1e6, key = 16, value = 8, get = 1, set = 0, arrival = { poisson_mops = 50 } },
  run = { duration = "10ms", functional = "off" },
  sweep = { ["node.nic"] = { "connectx-5-100g", "connectx-7-400g" }, ["system.post_threads"] = { 4, 8, 14 } },
}
