-- Figure 9: error of the authors' cost model. With system.predict = paper it chooses the pipeline: compare what kvcast sweep
-- and kvcast sweep --predict say. With kvcast, the same for kvcast's closed form.
local workloads = {}
for _, set in ipairs({ "K8", "K16", "K32", "K128" }) do
  for _, mix in ipairs({ "G100", "G95", "G50" }) do
    for _, popularity in ipairs({ "U", "S" }) do
      workloads[#workloads + 1] = set .. "-" .. mix .. "-" .. popularity
    end
  end
end
return {
  name = "dido-fig09",
  system = { kind = "dido", pipeline = "auto", predict = "paper" },
  workload = { preset = "K8-G95-S", arrival = "saturate" },
  -- The real index and slabs hold a sample of the keys, and the warm-up ends before SETs have gone through the store once.
  run = { functional = "sampled", sample_rate = 16, warmup_limit = "20ms", duration = "10ms" },
  sweep = { ["workload.preset"] = workloads, ["system.predict"] = { "paper", "kvcast" } },
}
