-- A kernel of many instructions for each request limits the store.
return {
  name = "gpu kernel gpu",
  system = {
    kind = "composed", pipelines = 2,
    batch = { count = 4096, before = "kernel" },
    stages = {
      { name = "receive", on = "nic.rx" },
      { name = "kernel", on = "gpu", ns = 20 },
      { name = "send", on = "nic.tx" },
    },
  },
  node = { gpu = "h200" },
  workload = { keys = 1e5, key = 16, value = 24, arrival = "saturate" },
  run = { duration = "40ms" },
}
