-- MemcachedGPU's own code: the GET kernel on one H200, and the host's part on its Xeon (model 207). Other cards and processors take
-- the same cycles at their clocks and the same accesses at their latency. A table of 2 GiB, half full; packets that were just
-- copied into the GPU's memory; the kernel's code in the caches, as between other batches.
local measured = "measured on one H200, 2026: "
return {
  kind = "memcachedgpu_costs",
  name = "measured on one H200",
  clock = { "1977MHz", source = measured .. "1163 cycles of a dependent access over its 588 ns" },
  block_cycles = { 9720, source = measured .. "the slowest of 16 blocks with hits takes 6.27 us, less 2.3 accesses of 1163 cycles" },
  key_cycles = { 165, source = measured .. "6.27, 9.95 and 15.58 us with keys of 16, 64 and 128 bytes: the slope" },
  accesses = { 2.3, source = measured .. "6.27 us, and 5.38 us with all lines in the L2 cache, over 1163 less 393 cycles of an access" },
  packet_cycles = { 59, source = measured .. "65,536 packets take 13.1 us longer than 8192, on 132 multiprocessors" },
  set_cycles = { 4160, source = measured .. "6830 cycles of a SET of a held key, less as many accesses" },
  call = { "2.5us", source = measured .. "one thread needs 15.2 us for the six calls of a batch with copies, 7.3 us for three without" },
  host_clock = { "2.66GHz", source = measured .. "a chain of multiplications of 3 cycles each" },
  answer = { "14.7ns", source = measured .. "a response whose lines are all in caches; 80 ns with values anywhere in 1 GiB" },
  set = { "10us", source = "memcachedgpu.set.max over memcachedgpu.set.vs_baseline: 32 K SETs/s are 32 % of what memcached alone serves, 100 K/s" },
}
