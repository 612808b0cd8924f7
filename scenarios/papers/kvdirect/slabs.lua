-- Section 3.3.2: DMA operations of the slab allocator for each slab that it releases. The bound of the paper is for the
-- worst case, in which the free slabs only grow: pairs are deleted from a full store, and each 16 slabs take one write.
-- Inserts and deletes in turn at random take far fewer (0.0024), because the card's own stack serves nearly all.
-- The load is a curve, so it is measured from its beginning, not after all pairs are gone.
return {
  name = "kvdirect-slabs",
  system = { kind = "kvdirect", memory = "64MiB", index = 0.2, inline = 15 },
  node = { fpga = { base = "catapult-stratix-v", dram = "4MiB" } },
  workload = {
    keys = 700e3, key = 8, value = 54, get = 0, set = 0, delete = 1,
    arrival = { curve = { { time = "0ms", rate = 100 }, { time = "2ms", rate = 100 } } },
  },
  run = { duration = "2ms" },
}
