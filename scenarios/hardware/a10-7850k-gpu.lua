-- The GPU of DIDO's APU. Fact ids refer to Zhang et al., DIDO, ICDE 2017. Its CPU is a10-7850k.lua, which has the
-- price. It is not published whether DIDO's buffers were coherent. The times of accesses hold for coherent memory,
-- whose lines the GPU's second-level cache does not hold. DIDO keeps its data in buffers of OpenCL 2.0 (sec. III.B.2),
-- which the driver limited to 1908 MB (sec. V.A). Such buffers are mapped in the GPU's own page tables (GPUVM). HSA
-- programs reach all memory of a process instead, through the IOMMU, whose page walks bound random accesses:
-- scenarios/papers/dido/iommu.lua. Linux, amdkfd/kfd_flat_memory.c, tells the two ways of this GPU apart. The cost of
-- misses in its own translations is not published, and not charged. Each launch passes through OpenCL's driver: how much
-- of it a launch before hides is not published, so none is hidden (launch_queued). HSA programs, which write to the queue of the GPU
-- themselves, launch in 3.5 us behind another launch (community.amd.com, HSA: Kernel dispatch latencies, A10-7850K).
local chase = "github.com/powerjg/hsa-micro-benchmarks, A10-7850K, data-thp-gpu.csv: "
local wiki = "CLRX wiki, GCN timings: "
return {
  kind = "gpu",
  name = "AMD A10-7850K, eight GCN 1.1 compute units",
  sms = { 8, source = "dido.hw.gpu.cu: sec. V.A" },
  threads_per_sm = { 2560, source = wiki .. "4 SIMDs hold 10 wavefronts of 64 each" },
  wave = { 64, source = "dido.hw.gpu.wavefront: sec. III.B.3" },
  wave_issue = { 1, source = "dido.hw.gpu.shaders: 64 lanes, a wavefront a cycle; clpeak reaches 733 of 737 GFLOPS on an A10-7850K" },
  wave_gap = { 4, source = wiki .. "an instruction of a wavefront takes four cycles" },
  shares_memory = { true, source = "dido.hw.mem.shared_limit: sec. V.A" },
  memory = { "1908MB", source = "dido.hw.mem.shared_limit: most that both processors can share" },
  access = { "530ns", source = chase .. "500 to 600 ns for a dependent load in arrays of up to 64 MB" },
  launch = { "33.8us", source = "github.com/krrishnarraj/clpeak, log of an A10-7850K with Catalyst 1573.4: kernel launch latency of OpenCL, from queued to started" },
  clocks = {
    { core = "720MHz", memory = "667MHz", source = "dido.hw.gpu.clock and dido.hw.mem.ddr3: sec. V.A" },
  },
}
