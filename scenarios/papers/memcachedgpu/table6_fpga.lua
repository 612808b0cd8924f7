-- Table 6: memcached on an FPGA at the line rate of a port (Blott et al., HotCloud 2013). Requests come by one port, and
-- responses, which are longer, leave by both. The latency of a lone request is system.outstanding=1; optical ports have no
-- PHY that delays as 10GBASE-T does.
return {
  name = "memcachedgpu-table6-fpga",
  system = { kind = "fpga_memcached", entries = 2e6 },
  node = { sockets = 1 },
  workload = { keys = 1.3e6, key = 16, value = 2, get = 1, arrival = "saturate" },
  run = { duration = "5ms" },
}
