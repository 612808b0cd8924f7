-- The GTX Titan of MemcachedGPU's offline study. Fact ids are of Hetherington et al., SoCC 2015.
-- Times of its kernels are not published; tesla-k20c.lua says what replaces them.
local capability = "CUDA C++ Programming Guide, compute capability 3.5"
return {
  kind = "gpu",
  name = "NVIDIA GeForce GTX Titan",
  sms = { 14, source = "memcachedgpu.t2.titan.cores: 2688, 192 to a multiprocessor" },
  threads_per_sm = { 2048, source = capability },
  blocks_per_sm = { 16, source = capability },
  shared = { "48KiB", source = "CUDA C++ Programming Guide, compute capability 3.5" },
  memory = { "6082MiB", source = "memcachedgpu.t2.titan.mem: 6 GB; as nvidia-smi shows it" },
  sectors = { 2.37e9, source = "derived: the H200's 39.5 G/s times 288 GB/s (memcachedgpu.t2.titan.bw) over 4.8 TB/s (data sheet of the H200)" },
  access = { "395ns", source = "331 cycles on Kepler (Arafa et al., arXiv:1905.08778, global memory) at 837 MHz; misses of the TLB come on top" },
  launch = { "8.5us", source = "as the Tesla K20c of the same chip: tesla-k20c.lua" },
  price = { 1000, source = "memcachedgpu.t2.titan.cost" },
  clocks = {
    { core = "837MHz", memory = "3000MHz", idle = "53W", busy = "250W",
      source = "memcachedgpu.t2.titan.clock; memory: 288 GB/s on 384 bits at twice the clock; idle: assumed, the Tesla K20c's 48 W times 250 over 225 W of design power (public logs show 10 to 14 W in P8 and none in P0); busy: memcachedgpu.t2.titan.tdp" },
  },
}
