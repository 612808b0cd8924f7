-- Figure 13: Mega-KV's pipeline with all index operations on the GPU (megakv), and with Insert and Delete on the CPU. The paper
-- leaves out two of these 16 workloads and does not say which.
local workloads = {}
for _, set in ipairs({ "K8", "K16", "K32", "K128" }) do
  for _, rest in ipairs({ "G95-U", "G95-S", "G50-U", "G50-S" }) do
    workloads[#workloads + 1] = set .. "-" .. rest
  end
end
local flexible = "cpu RV PP MM insert delete > gpu search > cpu KC RD WR SD"
return {
  name = "dido-fig13",
  system = { kind = "dido", pipeline = flexible, stealing = false },
  workload = { preset = "K8-G95-S", arrival = "saturate" },
  -- The real index and slabs hold a sample of the keys, and the warm-up ends before SETs have gone through the store once.
  run = { functional = "sampled", sample_rate = 16, warmup_limit = "20ms", duration = "10ms" },
  sweep = { ["workload.preset"] = workloads, ["system.pipeline"] = { "megakv", flexible } },
}
