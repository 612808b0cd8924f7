-- Figures 16 and 17, DIDO's side: requests come through the network for K8, and from memory for the others (system.feed =
-- memory). fig16_megakv.lua is the other side. Figure 18 is their throughput over the design power: 95 W and 690 W.
local workloads = {}
for _, set in ipairs({ "K8", "K16", "K128" }) do
  for _, rest in ipairs({ "G100-U", "G100-S", "G95-U", "G95-S" }) do
    workloads[#workloads + 1] = set .. "-" .. rest
  end
end
return {
  name = "dido-fig16",
  system = { kind = "dido", pipeline = "auto", feed = "memory", predict = "paper" },
  workload = { preset = "K16-G95-S", arrival = "saturate" },
  -- The real index and slabs hold a sample of the keys, and the warm-up ends before SETs have gone through the store once.
  run = { functional = "sampled", sample_rate = 16, warmup_limit = "20ms", duration = "10ms" },
  sweep = { ["workload.preset"] = workloads, ["system.feed"] = { "network", "memory" } },
}
