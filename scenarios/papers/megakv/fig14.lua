-- Figure 14: one socket of the cluster with 8-byte keys and values, Zipf 0.99 and C = 160 us. Every node has clients of its
-- own, which feed it its part of the queries (sec. 8.1), so the cluster serves eight times what kvcast capacity finds.
-- The generator sends whole packets in a tight loop and counts the address up from packet to packet (sec. 8.7), so frames
-- are evenly spaced and spread over the receive queues. Each node has a client server (sec. 8.1) with as many cores as
-- the node: eight flows per socket.
return {
  name = "megakv-fig14",
  system = { kind = "megakv", index = "2GiB", cycle_from = "launch", cycle = "160us", api = "getk" },
  node = { sockets = 1 },
  workload = { preset = "megakv-a", keys = 200e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 },
               arrival = { fixed_mops = 60 }, fill = "at_once", flows = 8, connections = 65536 },
  run = { functional = "sampled", sample_memory = "64MiB", duration = "3.2ms" },
  sweep = { ["system.api"] = { "getk", "get" } },
}
