-- One socket of a Mega-KV node (Zhang et al., VLDB J. 26(5) 2017, sec. 8.1) with a small sample of its keys.
-- cases.csv states the load of each case.
return {
  name = "mechanisms-megakv",
  system = { kind = "megakv", index = "2GiB", cycle = "160us", api = "getk" },
  node = { sockets = 1 },
  workload = { keys = 10e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 } },
  run = { functional = "sampled", sample_memory = "64MiB", warmup = "2ms", duration = "10ms" },
}
