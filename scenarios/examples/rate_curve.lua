-- A load that rises and falls during the run.
return {
  name = "rate-curve",
  system = { kind = "megakv", cycle = "200us", index = "64MiB" },
  node = { sockets = 1 },
  workload = {
    keys = 4e6, get = 0.95, set = 0.05,
    arrival = { curve = { { time = "0ms", rate = 10 }, { time = "20ms", rate = 60 }, { time = "40ms", rate = 10 } } },
  },
  run = { duration = "40ms" },
}
