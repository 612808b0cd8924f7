-- Table 3: loading throughput of one socket (100 % SET) with data sets a and b, through the network. A node has two sockets
-- with clients of their own. The store is full, because sec. 8.3 names evictions as the main overhead: 200 M keys fill 5.9 GiB of
-- items of data set a, and 17.8 GiB of data set b.
-- The generator sends whole packets in a tight loop and counts the address up from packet to packet (sec. 8.7), so frames
-- are evenly spaced and spread over the receive queues. Each node has a client server (sec. 8.1) with as many cores as
-- the node: eight flows per socket.
return {
  name = "megakv-table3",
  system = { kind = "megakv", index = "2GiB", cycle_from = "launch", cycle = "160us", slab = "5.9GiB" },
  node = { sockets = 1 },
  workload = { preset = "megakv-a", keys = 200e6, get = 0, set = 1,
               arrival = { fixed_mops = 50 }, fill = "at_once", flows = 8, connections = 65536 },
  run = { functional = "sampled", sample_memory = "64MiB", duration = "3.2ms" },
  sweep = { ["workload.preset"] = { "megakv-a", "megakv-b" } },
}
