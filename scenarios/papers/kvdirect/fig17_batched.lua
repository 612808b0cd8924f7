-- Figure 17a: latency with batching, at 90 % of the peak throughput of the long-tail GETs. The size of the batches is not
-- published. Packets of 7 operations on 10-byte pairs raise the throughput of the network by the 4 times of figure 15
-- and leave it below its limit.
return {
  name = "kvdirect-fig17-batched",
  system = { kind = "kvdirect", memory = "64GiB", idle_power = "87W" },
  -- One FPGA generates the packets (sec. 5.2.2), so one client fills them.
  workload = { keys = 3.4e9, key = 8, value = 2, set = 0, per_frame = 7, dist = { zipf = 0.99 }, flows = 1, arrival = { poisson_mops = 160 } },
  run = { functional = "sampled", sample_rate = 2048, duration = "2ms" },
}
