-- memcached on an FPGA, with more load than a port of 10 Gbit/s takes, so that packets are lost.
return {
  name = "golden-fpga",
  node = { sockets = 1 },
  system = { kind = "fpga_memcached", entries = 1e5 },
  workload = { keys = 1e5, key = 16, value = 2, get = 1, arrival = { fixed_mops = 14 } },
  run = { duration = "1ms" },
}
