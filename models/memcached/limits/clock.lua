-- The pipeline takes the line rate of one port, of which the NIC has two.
return {
  name = "clock threads fpga",
  node = { sockets = 1 },
  system = { kind = "fpga_memcached", entries = 2e6 },
  workload = { keys = 1e5, key = 16, value = 2, arrival = "saturate", get = 1 },
  run = { duration = "1ms" },
}
