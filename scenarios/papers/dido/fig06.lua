-- Figure 6: shares of the GPU's time that Insert and Delete take (gpu_insert_frac, gpu_delete_frac), by the size of the
-- batches, which the longest time of a stage determines.
return {
  name = "dido-fig06",
  system = { kind = "dido", pipeline = "megakv", stealing = false, interval = "300us" },
  workload = { preset = "K8-G95-S", arrival = "saturate" },
  -- The real index and slabs hold a sample of the keys, and the warm-up ends before SETs have gone through the store once.
  run = { functional = "sampled", sample_rate = 16, warmup_limit = "20ms", duration = "10ms" },
  sweep = {
    ["system.interval"] = { "100us", "150us", "200us", "300us", "400us", "600us" },
    ["workload.preset"] = { "K8-G95-S", "K16-G95-S", "K32-G95-S", "K128-G95-S" },
  },
}
