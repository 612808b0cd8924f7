-- memcached on four cores behind the sockets of Linux, with a session store's load: small keys, values of 100 bytes, one write in
-- ten. `--set system.network=pf_ring` shows what the kernel's stack costs.
return {
  name = "memcached",
  system = { kind = "memcached", threads = 4, network = "kernel" },
  node = { sockets = 1, nic = "x520-t2", network = "direct-cable-10g" },
  workload = { keys = 100e3, key = 16, value = 100, get = 0.9, set = 0.1, dist = { zipf = 0.99 }, arrival = { poisson_mops = 0.6 } },
  run = { duration = "20ms" },
}
