-- Memory of MemcachedGPU's server: 16 GB (memcachedgpu.t1.server.mem; Hetherington et al., SoCC 2015).
-- The paper names no module. The profile takes two unbuffered 8 GB modules of 4 Gbit chips, one on each channel.
local jedec = "JEDEC JESD79-3F, DDR3-1600 11-11-11 (clock of 1.25 ns): "
local module = "assumed, not published: unbuffered 8 GB module of 16 chips with 512M x 8: "
return {
  kind = "dram",
  name = "2x 8 GB DDR3-1600 at Core i7-4770K",
  random_line = { "67.3ns", source = "36 cycles and 57 ns, measured on an i7-4770 with DDR3-1600 CL11 (7-cpu.com/cpu/Haswell.html), at 3.5 GHz" },
  next_line = { "10.333ns", source = "as a Xeon E5-2650 v2 with DDR3-1600: megakv.hw.cpu.seq16_access and random_access" },
  line = { 64, source = "Intel 64 and IA-32 Architectures Optimization Reference Manual: cache line of Haswell" },
  channels = { 2, source = "Intel ARK, Core i7-4770K: 2 memory channels" },
  ranks = { 2, source = module .. "2 ranks" },
  banks = { 8, source = jedec .. "8 banks" },
  transfers = { 1600e6, source = "Intel ARK, Core i7-4770K: DDR3-1333 and 1600" },
  bus = { 8, source = "JEDEC JESD79-3F and module: 64 bits" },
  write_queue = { 32, source = "assumed: as Xeon E5 (Intel 327043-001, WPQ_OCCUPANCY); the Core's is not published" },
  tRC = { "48.75ns", source = jedec .. "tRC" },
  tRC_write = { "57.5ns", source = jedec .. "tRCD 13.75 + CWL 10 + burst 5 + tWR 15 + tRP 13.75 ns" },
  tRRD = { "6.25ns", source = jedec .. "6 ns for pages of 1 KB, in whole clocks" },
  tFAW = { "30ns", source = jedec .. "pages of 1 KB" },
  tCL = { "13.75ns", source = jedec .. "tAA" },
  tWTR = { "7.5ns", source = jedec .. "tWTR" },
  tRTW = { "2.5ns", source = jedec .. "read to write command RL + tCCD + 2 tCK - WL leaves 2 clocks between the data" },
  tRTRS = { "2.5ns", source = "assumed: 2 clocks, as in gem5's DDR3_1600; JEDEC leaves it to the controller" },
  tRFC = { "260ns", source = jedec .. "chips of 4 Gbit; " .. module .. "chips" },
  tREFI = { "7.8us", source = jedec .. "up to 85 degrees" },
  idle_power = { "0W", source = "part of the watts of core-i7-4770k.lua, which are the whole server's" },
  busy_power = { "0W", source = "part of the watts of core-i7-4770k.lua, which are the whole server's" },
}
