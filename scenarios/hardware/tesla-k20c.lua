-- MemcachedGPU's high-performance GPU. Fact ids are of Hetherington et al., SoCC 2015.
-- Times of its kernels are not published. They follow from sectors, latency and clocks of the card, in relation to the card
-- that was measured: an H200, whose 4.8 TB/s of memory bandwidth give 39.5 G random sectors a second.
-- A public log of nvidia-smi shows the power of the board without work: in P0 48 W with a context and 45 W without one; in P8
-- it has 16 to 18 W (memcachedgpu.power.k20c.idle_gpu), but a server that polls never lets it rest.
local capability = "CUDA C++ Programming Guide, compute capability 3.5"
return {
  kind = "gpu",
  name = "NVIDIA Tesla K20c",
  sms = { 13, source = "memcachedgpu.t2.k20c.cores: 2496, 192 to a multiprocessor" },
  threads_per_sm = { 2048, source = capability },
  blocks_per_sm = { 16, source = capability },
  shared = { "48KiB", source = "CUDA C++ Programming Guide, compute capability 3.5" },
  memory = { "4742MiB", source = "memcachedgpu.t2.k20c.mem: 5 GB; less ECC, as nvidia-smi shows it" },
  pinned = { "220MiB", source = "memcachedgpu.grxb.pinned: the most that GPUDirect can pin on a K20c" },
  sectors = { 1.71e9, source = "derived: the H200's 39.5 G/s times 208 GB/s (memcachedgpu.t2.k20c.bw) over 4.8 TB/s (data sheet of the H200)" },
  access = { "469ns", source = "331 cycles on Kepler (Arafa et al., arXiv:1905.08778, global memory) at 706 MHz; misses of the TLB come on top" },
  launch = { "8.5us", source = "derived: launch and two copies take 22.1 us on a K40c (megakv.sched.bS.875), in the H200's proportion of 9.3 to two times 7.5 us" },
  price = { 2700, source = "memcachedgpu.t2.k20c.cost" },
  clocks = {
    { core = "706MHz", memory = "2600MHz", idle = "48W", busy = "225W",
      source = "memcachedgpu.t2.k20c.clock; memory: 208 GB/s on 320 bits at twice the clock; idle: nvidia-smi of a K20c in P0 with a context; busy: memcachedgpu.t2.k20c.tdp" },
  },
}
