-- Figure 13a: fetch-and-add on few keys, with and without the out-of-order engine. The values of the
-- first case come over PCIe. With many keys, the ratio "auto" loads PCIe and the card's DRAM equally.
return {
  name = "kvdirect-fig13-atomics",
  system = { kind = "kvdirect", memory = "1MiB", index = 0.5, inline = 20, dispatch = 0, update = "add" },
  workload = { keys = 1, key = 8, value = 8, get = 0, set = 1, arrival = "saturate" },
  run = { duration = "2ms" },
  sweep = { ["workload.keys"] = { 1, 4, 16, 64, 256, 1024 }, ["system.engine"] = { "out_of_order", "stall" }, ["system.dispatch"] = { 0, "auto" } },
}
