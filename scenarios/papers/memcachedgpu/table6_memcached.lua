-- Table 6: memcached 1.4.15 with four threads on the sockets of Linux. One client sends over two cables, so the NIC
-- sees two addresses. The paper's latency is at 0.5 Mops (workload.arrival.poisson_mops=0.5).
return {
  name = "memcachedgpu-table6-memcached",
  system = { kind = "memcached", entries = 8.3e6, threads = 4, network = "kernel" },
  node = { sockets = 1, network = "direct-cable-10g", nic = { base = "x520-t2", rss_fields = "addresses" } },
  workload = { keys = 1.3e6, key = 16, value = 2, get = 1, flows = 1, connections = 2, arrival = "saturate" },
  run = { duration = "20ms" },
}
