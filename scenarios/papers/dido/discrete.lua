-- DIDO's pipelines on a CPU and a discrete GPU, which the paper does not build: one of the two processors and one of the two cards
-- of its Mega-KV (Discrete). The index, the items and the batches are in the memory of the CPU, and the card reads and writes them
-- over PCIe. fig16.lua is the chip with both, fig16_megakv.lua is Mega-KV itself, whose index is in the memory of the card.
local intel = "Intel 64 and IA-32 Architectures Optimization Reference Manual, Sandy Bridge and Ivy Bridge: "
return {
  name = "dido-discrete",
  system = { kind = "dido", pipeline = "auto", feed = "memory", adapt = false }, -- The load does not change.
  node = {
    cpu = {
      base = "xeon-e5-2650v2",
      instructions_per_cycle = { 4, source = intel .. "four micro-operations are issued and retired in a cycle" },
      sustained_ipc = { 3.27, source = "task_ipc.sh in models/dido: a GET of DIDO with a key of 16 and a value of 64 bytes, by llvm-mca 14 for ivybridge" },
    },
    dram = "ddr3-1600-e5v2",
    gpu = "gtx-780",
    pcie = "pcie3-x16-gtx780",
  },
  workload = { preset = "K16-G95-S", arrival = "saturate" },
  -- The real index and slabs hold a sample of the keys, and the warm-up ends before SETs have gone through the store once.
  run = { functional = "sampled", sample_rate = 16, warmup_limit = "20ms", duration = "10ms" },
  sweep = { ["system.pipeline"] = { "megakv", "auto" }, ["workload.preset"] = { "K8-G95-S", "K16-G95-S", "K128-G95-S" } },
}
