-- Values of 4 KiB fill the port to the clients.
return {
  name = "ports send nic",
  system = {
    kind = "composed",
    stages = {
      { name = "receive", on = "nic.rx" },
      { name = "serve", on = "cpu", cores = 16, cycles = 100 },
      { name = "send", on = "nic.tx" },
    },
  },
  node = { nic = "x520-t2" },
  workload = { keys = 1e5, key = 16, value = 4096, arrival = "saturate" },
  run = { duration = "40ms" },
}
