-- Figure 17a: latency with packets of 40 operations, at 90 % of the peak throughput of each workload.
return {
  name = "kvdirect-fig17-batched",
  system = { kind = "kvdirect", memory = "64GiB", idle_power = "87W" },
  -- One FPGA generates the packets (sec. 5.2.2), so one client fills them.
  workload = { keys = 3.4e9, key = 8, value = 2, set = 0, per_frame = 40, dist = { zipf = 0.99 }, flows = 1, arrival = { poisson_mops = 160 } },
  run = { functional = "sampled", sample_rate = 512, warmup = "200us", duration = "2ms" },
}
