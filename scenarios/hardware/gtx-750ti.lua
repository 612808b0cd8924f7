-- MemcachedGPU's low-power GPU. Fact ids are of Hetherington et al., SoCC 2015.
-- Times of its kernels are not published; tesla-k20c.lua says what replaces them.
local capability = "CUDA C++ Programming Guide, compute capability 5.0"
return {
  kind = "gpu",
  name = "NVIDIA GeForce GTX 750 Ti",
  sms = { 5, source = "memcachedgpu.t2.750ti.cores: 640, 128 to a multiprocessor" },
  threads_per_sm = { 2048, source = capability },
  blocks_per_sm = { 32, source = capability },
  shared = { "64KiB", source = "CUDA C++ Programming Guide, compute capability 5.0" },
  memory = { "2000MiB", source = "memcachedgpu.t2.750ti.mem: 2 GB; as nvidia-smi shows it" },
  sectors = { 7.11e8, source = "derived: the H200's 39.5 G/s times 86.4 GB/s (memcachedgpu.t2.750ti.bw) over 4.8 TB/s (data sheet of the H200)" },
  access = { "368ns", source = "375 cycles on Maxwell (Arafa et al., arXiv:1905.08778, global memory) at 1020 MHz; misses of the TLB come on top" },
  launch = { "8.5us", source = "as the Tesla K20c, at the same driver and host: tesla-k20c.lua" },
  price = { 150, source = "memcachedgpu.t2.750ti.cost" },
  clocks = {
    { core = "1020MHz", memory = "2700MHz", idle = "6.5W", busy = "60W",
      source = "memcachedgpu.t2.750ti.clock; memory: 86.4 GB/s on 128 bits at twice the clock; idle: memcachedgpu.power.750ti.idle_gpu (public logs of nvidia-smi show no more in P0 than in P8); busy: memcachedgpu.t2.750ti.tdp" },
  },
}
