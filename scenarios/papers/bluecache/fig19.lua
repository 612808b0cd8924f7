-- Figure 19, Fatcache's side: GETs of 1 KB from an SSD over 1 Gbit/s; fig18.lua with 128 threads is BlueCache's side.
-- The paper gives 32 Kops and 3000 us, which are 96 clients by Little's law; it states neither the number of clients
-- nor of instances, which is 8 here as in Fatcache's own notes. The paper's parts of the network (300 us) and of the
-- NIC (128 us) are quoted from other work, and neither switches nor interrupts that a NIC holds back are modelled. The
-- memory for slabs is smaller, so that it holds the same share of these items as of a full SSD.
return {
  name = "bluecache-fig19",
  node = { sockets = 1, network = "direct-cable-1g" },
  system = { kind = "fatcache", cycles_ratio = 1.282, entries = 1.2e6, slab_memory = "1MiB", disk = "8GiB" },
  workload = { keys = 1e6, key = 32, value = 992, get = 1, set = 0, arrival = { clients = 96 } },
  run = { duration = "500ms" },
  sweep = { ["workload.arrival.clients"] = { 8, 16, 32, 48, 64, 96, 128 }, ["system.instances"] = { 4, 8, 24 } },
}
