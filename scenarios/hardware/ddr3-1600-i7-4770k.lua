-- Memory of MemcachedGPU's server: 16 GB (memcachedgpu.t1.server.mem; Hetherington et al., SoCC 2015).
-- The paper names no module. The profile takes two unbuffered 8 GB modules of 4 Gbit chips, one on each channel.
local jedec = "JEDEC JESD79-3F, DDR3-1600 11-11-11 (clock of 1.25 ns): "
local module = "assumed, not published: unbuffered 8 GB module of 16 chips with 512M x 8: "
return {
  kind = "dram",
  base = "ddr3-1600-e5v2",
  name = "2x 8 GB DDR3-1600 at Core i7-4770K",
  random_line = { "67.3ns", source = "36 cycles and 57 ns, measured on an i7-4770 with DDR3-1600 CL11 (7-cpu.com/cpu/Haswell.html), at 3.5 GHz" },
  next_line = { "10.333ns", source = "as a Xeon E5-2650 v2 with DDR3-1600: megakv.hw.cpu.seq16_access and random_access" },
  line = { 64, source = "Intel 64 and IA-32 Architectures Optimization Reference Manual: cache line of Haswell" },
  channels = { 2, source = "Intel ARK, Core i7-4770K: 2 memory channels" },
  ranks = { 2, source = module .. "2 ranks" },
  transfers = { 1600e6, source = "Intel ARK, Core i7-4770K: DDR3-1333 and 1600" },
  bus = { 8, source = "JEDEC JESD79-3F and module: 64 bits" },
  write_queue = { 32, source = "assumed: as Xeon E5 (Intel 327043-001, WPQ_OCCUPANCY); the Core's is not published" },
  tRFC = { "260ns", source = jedec .. "chips of 4 Gbit; " .. module .. "chips" },
  idle_power = { "0W", source = "part of the watts of core-i7-4770k.lua, which are the whole server's" },
  busy_power = { "0W", source = "part of the watts of core-i7-4770k.lua, which are the whole server's" },
}
