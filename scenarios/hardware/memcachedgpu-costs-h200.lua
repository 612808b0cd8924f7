-- MemcachedGPU's own code: the GET kernel on one H200, and the host's part on its Xeon. Other cards and processors take the
-- same cycles at their clocks and the same accesses at their latency.
local measured = "measured on one H200, 2026: "
return {
  kind = "memcachedgpu_costs",
  name = "measured on one H200",
  clock = { "1980MHz", source = measured .. "clock64() over the time of the kernel" },
  block_cycles = { 6380, source = measured .. "10,930 cycles of a block with hits in 2 GB, less 4 accesses of 1137" },
  key_cycles = { 102, source = measured .. "15,810 cycles of a block with keys of 64 bytes, 10,930 with keys of 16" },
  accesses = { 4, source = "get_cuda.cu: description of the packet, packet, control line, entry, one after the other" },
  packet_cycles = { 56, source = measured .. "65,536 packets take 12.2 us longer than 8,192, on 132 multiprocessors" },
  set_cycles = { 6380, source = "assumed: as a block of GETs, until it is measured" },
  call = { "1.9us", source = measured .. "a copy 1.3 us, a launch 3.0 us, an event 0.2 us and asking for it 1.3 us: the mean of a batch's three" },
  host_clock = { "3.8GHz", source = "assumed: turbo of the machine's Xeon, until it is measured" },
  answer = { "20ns", source = "assumed, until it is measured" },
  set = { "10us", source = "memcachedgpu.set.max over memcachedgpu.set.vs_baseline: 32 K SETs/s are 32 % of what memcached alone serves, 100 K/s" },
}
