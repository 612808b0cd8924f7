-- A slow port cannot bring more packets.
return {
  name = "nic rx nic",
  system = { kind = "memcachedgpu", entries = 4e5, batch = 64 },
  node = { nic = { base = "x520-t2", port_rate = "1Gbps" } },
  workload = { keys = 1e5, key = 16, value = 2, get = 1, set = 0, arrival = "saturate" },
  run = { duration = "100ms" },
}
