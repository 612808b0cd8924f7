-- Figures 11, 14 and 15: DIDO (auto, with stealing) and Mega-KV on the APU (megakv, without stealing). Without stealing, auto is
-- figure 14, and what stealing adds to it figure 15.
local workloads = {}
for _, set in ipairs({ "K8", "K16", "K32", "K128" }) do
  for _, mix in ipairs({ "G100", "G95", "G50" }) do
    for _, popularity in ipairs({ "U", "S" }) do
      workloads[#workloads + 1] = set .. "-" .. mix .. "-" .. popularity
    end
  end
end
return {
  name = "dido-fig11",
  system = { kind = "dido", pipeline = "auto", stealing = true, predict = "paper" },
  workload = { preset = "K8-G95-S", arrival = "saturate" },
  -- The real index and slabs hold a sample of the keys, and the warm-up ends before SETs have gone through the store once.
  run = { functional = "sampled", sample_rate = 16, warmup_limit = "20ms", duration = "10ms" },
  sweep = {
    ["workload.preset"] = workloads, ["system.pipeline"] = { "megakv", "auto" }, ["system.stealing"] = { false, true },
  },
}
