-- Section 3.3.2: DMA operations of the slab allocator while pairs in slabs are inserted and deleted. As many inserts as
-- deletes leave half of the keys in the store, so that half of them are there from the start.
return {
  name = "kvdirect-slabs",
  system = { kind = "kvdirect", memory = "64MiB", index = 0.2, inline = 15 },
  node = { fpga = { base = "catapult-stratix-v", dram = "4MiB" } },
  workload = { keys = 300e3, key = 8, value = 54, get = 0, set = 0.5, delete = 0.5, preload = 0.5, arrival = "saturate" },
  run = { duration = "2ms" },
}
