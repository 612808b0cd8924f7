-- Figure 19: DIDO (auto) and Mega-KV on the APU (megakv, without stealing) by the limit of the mean latency. The text compares
-- with Mega-KV (Discrete), whose throughput is several times DIDO's (figure 16), so that it must mean the one on the APU.
return {
  name = "dido-fig19",
  system = { kind = "dido", pipeline = "auto", latency_limit = "1ms", predict = "paper" },
  workload = { preset = "K16-G100-S", arrival = "saturate" },
  -- The real index and slabs hold a sample of the keys, and the warm-up ends before SETs have gone through the store once.
  run = { functional = "sampled", sample_rate = 16, warmup_limit = "20ms", duration = "10ms" },
  sweep = {
    ["system.latency_limit"] = { "600us", "800us", "1ms" },
    ["workload.preset"] = { "K8-G50-U", "K16-G100-S", "K32-G95-S", "K32-G50-U" },
    ["system.pipeline"] = { "megakv", "auto" },
    ["system.stealing"] = { false, true },
  },
}
