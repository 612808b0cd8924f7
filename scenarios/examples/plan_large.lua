-- 10,000 candidates: the least power for 60 million requests per second. time kvcast plan shows how long a plan takes.
return {
  name = "plan-large",
  system = { kind = "megakv", index = "2GiB", api = "getk" },
  node = { sockets = 1 },
  workload = { keys = 10e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, connections = 256,
               arrival = { poisson_mops = 60 } },
  run = { functional = "off", warmup = "2ms", duration = "10ms" },
  slo = { p99 = "400us" },
  sweep = {
    ["cluster.nodes"] = { from = 1, to = 10, steps = 10 },
    ["node.sockets"] = { 1, 2 },
    ["system.cycle"] = { from = "100us", to = "345us", steps = 50 },
    ["system.gpu_core"] = { "875MHz", "666MHz" },
    ["node.cpu"] = { { base = "xeon-e5-2650v2", cores = 8 }, { base = "xeon-e5-2650v2", cores = 7 },
                     { base = "xeon-e5-2650v2", cores = 6 }, { base = "xeon-e5-2650v2", cores = 5 },
                     { base = "xeon-e5-2650v2", cores = 4 } },
  },
  plan = { minimise = "watts" },
}
