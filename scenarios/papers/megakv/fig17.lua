-- Figure 17: latency distribution by scheduling cycle on one socket of the cluster. The paper uses the largest speed that
-- the cycle permits, which kvcast capacity finds; its latencies are those at the highest load that is served.
-- The generator sends whole packets in a tight loop and counts the address up from packet to packet (sec. 8.7), so frames
-- are evenly spaced and spread over the receive queues. Each node has a client server (sec. 8.1) with as many cores as
-- the node: eight flows per socket.
return {
  name = "megakv-fig17",
  system = { kind = "megakv", index = "2GiB", cycle_from = "launch", cycle = "160us", api = "getk" },
  node = { sockets = 1 },
  workload = { preset = "megakv-a", keys = 200e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 },
               arrival = { fixed_mops = 55 }, fill = "at_once", flows = 8, connections = 65536 },
  run = { functional = "sampled", sample_memory = "64MiB", duration = "3.2ms" },
  sweep = { ["system.cycle"] = { "120us", "160us", "200us", "240us", "280us", "320us" } },
}
