-- Figures 4 and 5: times of Mega-KV's stages on the APU (mean us) and use of its GPU (stage 2), and with system.pipeline =
-- auto and system.stealing = true figure 12, the use of the processors under DIDO. Stages take 300 us at most
-- (dido.mot.stage_limit), which the limit of the latency gives three stages.
return {
  name = "dido-fig04",
  system = { kind = "dido", pipeline = "megakv", stealing = false, predict = "paper" },
  workload = { preset = "K8-G95-S", arrival = "saturate" },
  -- The real index and slabs hold a sample of the keys, and the warm-up ends before SETs have gone through the store once.
  run = { functional = "sampled", sample_rate = 16, warmup_limit = "20ms", duration = "10ms" },
  sweep = {
    ["workload.preset"] = { "K8-G95-S", "K16-G95-S", "K32-G95-S", "K128-G95-S" },
    ["system.pipeline"] = { "megakv", "auto" },
  },
}
