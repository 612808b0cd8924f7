-- Twelve hardware threads serve requests on eight cores, whose issue slots they share.
return {
  name = "cpu serve cpu",
  system = {
    kind = "composed",
    stages = {
      { name = "receive", on = "nic.rx" },
      { name = "serve", on = "cpu", cores = 12, cycles = 3000 },
      { name = "send", on = "nic.tx" },
    },
  },
  node = { cpu = "xeon-e5-2650v2", sockets = 1 },
  workload = { keys = 1e5, key = 16, value = 24, arrival = "saturate" },
  run = { duration = "10ms" },
}
