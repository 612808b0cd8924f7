-- Two cores serve all requests, each at a cost that the ports exceed by far.
return {
  name = "cpu serve cpu",
  system = {
    kind = "composed",
    stages = {
      { name = "receive", on = "nic.rx" },
      { name = "serve", on = "cpu", cores = 2, cycles = 1000 },
      { name = "send", on = "nic.tx" },
    },
  },
  workload = { keys = 1e5, key = 16, value = 24, arrival = "saturate" },
  run = { duration = "10ms" },
}
