-- Figure 17b: latency without batching, at 90 % of the throughput that one operation per packet permits.
return {
  name = "kvdirect-fig17",
  system = { kind = "kvdirect", memory = "64GiB", idle_power = "87W" },
  -- One FPGA generates the packets (sec. 5.2.2), so one client fills them.
  workload = { keys = 3.4e9, key = 8, value = 2, set = 0, per_frame = 1, dist = { zipf = 0.99 }, flows = 1, arrival = { poisson_mops = 46 } },
  run = { functional = "sampled", sample_rate = 2048, duration = "2ms" },
  sweep = { ["workload.set"] = { 0, 1 }, ["workload.dist"] = { "uniform", "zipf" } },
}
