-- Each response with a large value takes a frame of its own, and the cores have time for more of them than the port.
return {
  name = "nic stage1 nic",
  system = { kind = "dido", pipeline = "cpu RV PP MM search insert delete KC RD WR SD" },
  workload = { keys = 1e5, key = 16, value = 900, arrival = "saturate", get = 1 },
  run = { duration = "100ms" },
}
