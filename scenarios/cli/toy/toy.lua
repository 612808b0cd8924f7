-- A single server at half load. Its mean latency follows the M/D/1 queue: 1 us of service and 0.5 us of waiting.
return {
  system = { kind = "toy" },
  workload = { keys = 1000, preset = "ycsb-b", arrival = { poisson_mops = 0.5 } },
  run = { duration = "40ms" },
}
