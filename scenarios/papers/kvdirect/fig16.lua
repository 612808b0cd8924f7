-- Figure 16: throughput by share of PUTs under YCSB's uniform and long-tail keys, for one NIC and 10-byte pairs. The
-- memory is half full. The long-tail benchmark has a dispatch ratio of 60 % (kvdirect.disp.l_sys, sec. 5.2.2); the
-- ratio of the uniform one is not published.
return {
  name = "kvdirect-fig16",
  system = { kind = "kvdirect", memory = "64GiB", idle_power = "87W", dispatch = 0.6 },
  workload = { keys = 3.4e9, key = 8, value = 2, set = 0, dist = { zipf = 0.99 }, arrival = "saturate" },
  run = { functional = "sampled", sample_rate = 2048, duration = "1ms" },
  sweep = { ["workload.set"] = { 0, 0.05, 0.5, 1 }, ["workload.dist"] = { "uniform", "zipf" } },
}
