-- Figure 20: memcached over 1 Gbit/s, by the latency of the network between it and the application server. The case
-- without a NIC between them is system.loopback=true. 48 application threads send GETs of 1 KB (the introduction's
-- size); 113 Kops of the 1.54 KB of sec. 6.4 would be more than 1 Gbit/s. Not modelled: which of the 48 threads share cores
-- with memcached on the same machine (system.core_share).
return {
  name = "bluecache-fig20",
  node = { sockets = 1, cpu = "xeon-x5670", dram = "ddr3-1333-x5670", nic = "intel-82576",
           network = { base = "direct-cable-1g" } },
  system = { kind = "memcached", network = "tcp", cycles_ratio = 1.282, entries = 1e6 },
  workload = { keys = 1e6, key = 32, value = 992, get = 1, set = 0, arrival = { clients = 48 } },
  run = { duration = "100ms" },
  sweep = { ["node.network.cable_latency"] = { "0.343us", "100us", "200us", "400us", "800us" } },
}
