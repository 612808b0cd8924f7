-- Table 6: memcached on an FPGA at the line rate of a port (Blott et al., HotCloud 2013). Requests come by one port, and
-- responses, which are longer, leave by both.
return {
  name = "memcachedgpu-table6-fpga",
  system = { kind = "fpga_memcached" },
  node = { sockets = 1, network = "direct-cable-10g" },
  workload = { keys = 1.3e6, key = 16, value = 2, get = 1, arrival = { poisson_mops = 12.5 } },
  run = { duration = "5ms" },
}
