-- memcached as a pipeline on an FPGA. It can answer at the line rate of its port; this load is three quarters of that.
return {
  name = "fpga_memcached",
  system = { kind = "fpga_memcached" },
  node = { sockets = 1 },
  workload = { keys = 100e3, key = 16, value = 2, get = 1, set = 0, arrival = { poisson_mops = 10 } },
  run = { duration = "5ms" },
}
