-- MICA (Lim et al., NSDI 2014): each core owns a partition of the keys, polls the NIC and writes items into a circular log. Clients
-- address the core that owns the key.
return {
  name = "mica",
  system = { kind = "mica", client_assisted = true },
  node = { sockets = 2 },
  workload = { keys = 1e6, key = 8, value = 8, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, arrival = { poisson_mops = 30 } },
  run = { duration = "10ms" },
}
