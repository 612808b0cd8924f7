-- A cluster of Mega-KV nodes under an open load, at 90 % of what its nodes serve. Nodes share nothing, so that each
-- is simulated in a process of its own (docs/clusters.md). The figure of merit is 100 nodes for 100 ms:
--   kvcast run cluster.lua --set cluster.nodes=100 --set workload.keys=100e6 \
--       --set workload.arrival.poisson_mops=NODES*LOAD --set run.duration=100ms
return {
  system = { kind = "megakv", cycle = "160us", index = "16MiB" },
  cluster = { nodes = 4 },
  workload = {
    keys = 4e6, key = 8, value = 8, get = 0.95, set = 0.05, dist = "uniform",
    arrival = { poisson_mops = 4 * 150 },
  },
  run = { warmup = "2ms", duration = "2ms", seed = 1 },
}
