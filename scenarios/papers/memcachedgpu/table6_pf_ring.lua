-- Table 6: memcached with two threads that poll the NIC with PF_RING. The paper's latency is at 1 Mops
-- (workload.arrival.poisson_mops=1).
return {
  name = "memcachedgpu-table6-pf-ring",
  system = { kind = "memcached", entries = 8.3e6, threads = 2, network = "pf_ring" },
  node = { sockets = 1, network = "direct-cable-10g" },
  workload = { keys = 1.3e6, key = 16, value = 2, get = 1, connections = 16, arrival = "saturate" },
  run = { duration = "20ms" },
}
