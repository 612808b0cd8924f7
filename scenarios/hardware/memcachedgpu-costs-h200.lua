-- MemcachedGPU's own code: the GET kernel on one H200, and the host's part on its Xeon (model 207). Other cards and processors take
-- the same cycles at their clocks and the same accesses at their latency. The table had 2 GiB and was half full, packets had just
-- been copied into the GPU's memory, and the kernel's code was in the caches, as between other batches.
local measured = "measured on one H200, 2026: "
return {
  kind = "memcachedgpu_costs",
  name = "measured on one H200",
  clock = { "1980MHz", source = measured .. "1166 cycles of a dependent access over its 589 ns" },
  block_cycles = { 9740, source = measured .. "the slowest of 16 blocks with hits takes 6.18 us, less 2.13 accesses of 1166 cycles" },
  key_cycles = { 171, source = measured .. "6.18, 9.92 and 15.81 us with keys of 16, 64 and 128 bytes: the slope" },
  accesses = { 2.13, source = measured .. "6.18 us, and 5.34 us with all lines in the L2 cache, over 1166 less 394 cycles of an access" },
  block_shared = { 21792, source = "get_cuda.cu: requests, responses and results of 32 packets, as the compiler reports it" },
  packet_cycles = { 60, source = measured .. "65,536 packets take 13.2 us longer than 8192, on 132 multiprocessors" },
  set_cycles = { 5120, source = measured .. "7603 cycles of a SET of a held key, less as many accesses" },
  call = { "1.6us", source = measured .. "one thread needs 9.4 us for the six calls of a batch with copies, 5.2 us for three without" },
  call_polled = { "2.05us", source = measured .. "the six calls of a batch take 9.2 us alone and 11.7 to 12.2 us while 1 to 10 threads ask for an event" },
  staging = { "7.91GB/s", source = measured .. "the call that copies 36,864 bytes takes 7.5, 8.9 and 7.6 us from memory that is not pinned, 2.8, 3.7 and 3.4 us from pinned memory, with 0, 2 and 4 threads that ask for an event" },
  host_clock = { "2.66GHz", source = measured .. "a chain of multiplications of 3 cycles each" },
  answer = { "9.4ns", source = measured .. "a response whose lines are all in caches; 23.7 ns with values anywhere in 1 GiB" },
  set = { "10us", source = "memcachedgpu.set.max over memcachedgpu.set.vs_baseline: 32 K SETs/s are 32 % of what memcached alone serves, 100 K/s" },
}
