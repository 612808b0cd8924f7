-- A GPU fails for 2 ms, and later both sockets' clocks fall by half. Draw the throughput with `kvcast plot -k timeline` or
-- open timeline.json in Perfetto: requests wait while the GPU is off, and the backlog drains afterwards.
return {
  name = "outage",
  system = { kind = "megakv", index = "2GiB", cycle = "160us" },
  workload = { keys = 10e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, arrival = { poisson_mops = 60 } },
  run = {
    functional = "sampled", sample_memory = "64MiB", duration = "30ms",
    changes = {
      { at = "5ms", device = "node0.socket0.gpu", off = "2ms" },
      { at = "20ms", device = "node0.socket0.cpu", clock = "1300MHz" },
      { at = "20ms", device = "node0.socket1.cpu", clock = "1300MHz" },
    },
  },
}
