-- What if DIDO's GPU reached its data as HSA programs do, through the IOMMU? Then up to 16 page walks at a time bound its random
-- accesses: Vesely et al., ISPASS 2016, sec. IV-A, for the number of walks on an A10-7850K; powerjg's hsa-micro-benchmarks,
-- data-thp-gpu.csv, for their time: a dependent load takes 975 to 985 ns in arrays of 128 MB and more, and 450 ns less in arrays
-- of up to 64 MB. DIDO itself has buffers of OpenCL, which need no IOMMU: scenarios/hardware/a10-7850k-gpu.lua.
return {
  name = "dido-iommu",
  system = { kind = "dido", pipeline = "auto", predict = "paper" },
  node = { gpu = { base = "a10-7850k-gpu", walkers = 16, walk = "450ns", walk_free = "64MB" } },
  workload = { preset = "K8-G95-S", arrival = "saturate" },
  -- The real index and slabs hold a sample of the keys, and the warm-up ends before SETs have gone through the store once.
  run = { functional = "sampled", sample_rate = 16, warmup_limit = "20ms", duration = "10ms" },
  sweep = {
    ["node.gpu.walkers"] = { 0, 16 },
    ["workload.preset"] = { "K8-G95-S", "K16-G95-S", "K32-G95-S", "K128-G95-S" },
    ["system.pipeline"] = { "megakv", "auto" },
  },
}
