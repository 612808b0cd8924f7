-- The GPUs of Mega-KV (Discrete) in DIDO's comparison, which Mega-KV's VLDB 2015 system used. Fact ids are of Zhang et al., VLDB J.
-- 26(5), 2017, of DIDO, ICDE 2017, and of Hetherington et al., SoCC 2015.
-- Times of its kernels are not published and follow from sectors, access and launch.
local review = "extremetech.com, review of the GTX 780, 2013: "
return {
  kind = "gpu",
  name = "NVIDIA GeForce GTX 780",
  sms = { 12, source = review .. "12 multiprocessors, 2304 cores" },
  threads_per_sm = { 2048, source = "CUDA C++ Programming Guide, compute capability 3.5" },
  blocks_per_sm = { 16, source = "CUDA C++ Programming Guide, compute capability 3.5" },
  wave_issue = { 6, source = review .. "192 cores of a multiprocessor take six warps of 32 a cycle; its four schedulers could dispatch eight instructions (CUDA C Programming Guide, compute capability 3.x)" },
  wave_gap = { 11, source = "CUDA C Programming Guide, multiprocessor level: about 11 cycles until an instruction of compute capability 3.x has its result" },
  shared = { "48KiB", source = "CUDA C++ Programming Guide, compute capability 3.5" },
  memory = { "3GB", source = review .. "3 GB" },
  sectors = { 2.37e9, source = "derived as for the GTX Titan, whose memory has the same 288 GB/s: gtx-titan.lua" },
  access = { "384ns", source = "331 cycles on Kepler (Arafa et al., arXiv:1905.08778, global memory) at 863 MHz; misses of the TLB come on top" },
  launch = { "8.5us", source = "as the Tesla K20c of the same architecture: tesla-k20c.lua" },
  price = { 500, source = "megakv.hw.gpu.gtx780.price: VLDB 2015 system, sec. 8.1" },
  clocks = {
    { core = "863MHz", memory = "3000MHz", idle = "53W", busy = "250W",
      source = "hardwaredb.net: base clock; memory: 288 GB/s on 384 bits at twice the clock; idle: as the GTX Titan; busy: dido.hw.tdp.gtx780" },
  },
}
