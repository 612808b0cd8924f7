-- Table 2: vector increments. GB/s are Mops times the bytes of a vector. There are two alternatives: one key per
-- element (update = "add", value = 8), and fetching the vector and putting it back (update = "put", half of the
-- operations GETs).
return {
  name = "kvdirect-table2",
  system = { kind = "kvdirect", memory = "256MiB", index = 0.1, inline = 16, update = "update", lambda = "v + d", element = 2 },
  node = { fpga = { base = "catapult-stratix-v", dram = "16MiB" } },
  workload = { keys = 400e3, key = 8, value = 246, get = 0, set = 1, arrival = "saturate" },
  run = { duration = "1ms" },
  sweep = {
    ["workload.value"] = { 54, 118, 246, 502 },
    ["system.returns_vector"] = { false, true },
  },
}
