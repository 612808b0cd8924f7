-- One Mega-KV node as in the paper (VLDB J. 26(5) 2017, sec. 8.1), small enough for a laptop. The indexes and slabs of
-- both sockets are simulated in full, so every request looks up and reads its real item.
return {
  name = "megakv",
  system = { kind = "megakv", cycle = "160us", delay = 2, api = "getk", index = "512MiB" },
  node = { cpu = "xeon-e5-2650v2", gpu = "tesla-k40c", nic = "xl710-2x40g", sockets = 2 },
  workload = {
    keys = 48e6, key = 8, value = 8,
    get = 0.95, set = 0.05,
    dist = { zipf = 0.99 },
    arrival = { poisson_mops = 100 },
  },
  run = { duration = "100ms", seed = 1 },
}
