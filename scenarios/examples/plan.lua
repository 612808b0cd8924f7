-- The cheapest Mega-KV cluster for 150 million requests per second, 99 % of them answered within 350 us, with at most 1000 W.
-- Without its GPUs, the paper's server cost 4837 dollars: two processors of 1162 dollars each, and the rest, which here
-- includes the memory and the network.
return {
  name = "plan",
  system = { kind = "megakv", index = "2GiB", api = "getk" },
  node = { price = 4837 - 2 * 1162, nic = { base = "xl710-2x40g", price = 0 }, dram = { base = "ddr3-1600-e5v2", price = 0 } },
  workload = { keys = 10e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, connections = 256,
               arrival = { poisson_mops = 150 } },
  run = { functional = "off", duration = "10ms" },
  slo = { p99 = "350us", watts = 1000 },
  sweep = {
    ["cluster.nodes"] = { 1, 2, 3, 4 },
    ["node.sockets"] = { 1, 2 },
    ["system.cycle"] = { from = "100us", to = "300us", steps = 11 },
    ["system.gpu_core"] = { "875MHz", "666MHz" },
  },
  plan = { minimise = "price" },
}
