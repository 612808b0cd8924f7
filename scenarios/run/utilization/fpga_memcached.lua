return {
  system = { kind = "fpga_memcached" },
  workload = { keys = 1e5, key = 16, value = 64, get = 0.95, set = 0.05 },
  run = { duration = "1ms" },
}
