-- Figure 16, Mega-KV's side: two Xeon E5-2650 v2, each with a GTX 780. The paper takes its numbers from VLDB 2015.
-- There, requests come through the network for K8, and from memory for the others (system.feed = memory). Times of its
-- kernels are not published and follow from the profile of the card; the data sets are DIDO's.
local workloads = {}
for _, set in ipairs({ "K8", "K16", "K128" }) do
  for _, rest in ipairs({ "G100-U", "G100-S", "G95-U", "G95-S" }) do
    workloads[#workloads + 1] = set .. "-" .. rest
  end
end
return {
  name = "dido-fig16-megakv",
  system = { kind = "megakv", index = "2GiB", feed = "memory" },
  node = { gpu = "gtx-780" },
  workload = { preset = "K16-G95-S", arrival = "saturate" },
  run = { functional = "sampled", sample_rate = 16, warmup_limit = "20ms", duration = "5ms" },
  sweep = { ["workload.preset"] = workloads, ["system.feed"] = { "network", "memory" } },
}
