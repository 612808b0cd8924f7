-- The CPU of DIDO's APU. Fact ids are of Zhang et al., DIDO, ICDE 2017. Its GPU is a10-7850k-gpu.lua.
return {
  kind = "cpu",
  name = "AMD A10-7850K, four Steamroller cores",
  cores = { 4, source = "dido.hw.cpu.cores: sec. V.A" },
  threads_per_core = { 1, source = "AMD BIOS and Kernel Developer's Guide, family 15h models 30h-3Fh: cores have one thread" },
  clock = { "3.7GHz", source = "dido.hw.cpu.clock: sec. V.A" },
  instructions_per_cycle = { 4, source = "LLVM, X86ScheduleBdVer2.td: up to 4 instructions are decoded, issued and retired in a cycle (Piledriver); Steamroller has such a decoder for each core (AMD, Hot Chips 24)" },
  sustained_ipc = { 1.53, source = "task_ipc.sh in models/dido: a GET of DIDO with a key of 16 and a value of 64 bytes, 637 instructions, by llvm-mca 14 for bdver2 (Piledriver); Steamroller's decoders allow at most 2 (GCC, bdver3.md: four instructions in two cycles)" },
  packet = { "0ns", source = "not used by dido, which states its tasks in instructions" },
  llc = { "4MiB", source = "GCC, bdver3_cost: 2 MiB for two cores; four cores have two" },
  llc_hit_cycles = { 21, source = "lostcircuits.com, review of the FX-8150 (Sandra): 20 to 22 cycles for the second-level cache; AnandTech 6201: not shortened in Steamroller" },
  price = { 173, source = "hexus.net, review of the A10-7850K, 2014: price of the whole APU at launch in US dollars" },
}
