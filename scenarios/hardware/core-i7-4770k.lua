-- The processor of MemcachedGPU's server. Fact ids are of Hetherington et al., SoCC 2015.
-- All watts are the whole server's at the wall plug, without its GPU, because the paper and the reviews of the processor
-- measured there: they include disks, board, memory, idle network ports and the losses of the power supply.
local same_code = "derived: the same code on a Xeon E5-2650 v2, at 2.6 GHz: "
return {
  kind = "cpu",
  name = "Intel Core i7-4770K",
  cores = { 4, source = "Intel ARK, Core i7-4770K" },
  threads_per_core = { 2, source = "Intel ARK, Core i7-4770K: 4 cores, 8 threads" },
  clock = { "3.5GHz", source = "Intel ARK, Core i7-4770K: base clock; whether turbo was on is not published" },
  packet = { "5.2ns", source = same_code .. "7 ns, megakv.bg.io_parse_cost" },
  operation = { "74ns", source = same_code .. "100 ns, kvdirect.hw.cpu.kv_compute" },
  root_rate = { "15.75GB/s", source = "Intel ARK, Core i7-4770K: 16 lanes of PCIe 3.0, 8 GT/s with 128b/130b each" },
  lookahead = { "22ns", source = same_code .. "30 ns, kvdirect.hw.cpu.window" },
  llc = { "8MiB", source = "Intel ARK, Core i7-4770K: 8 MB" },
  llc_hit_cycles = { 36, source = "L3 latency of Haswell, measured on an i7-4770 (7-cpu.com/cpu/Haswell.html)" },
  price = { 350, source = "Intel ARK, Core i7-4770K: recommended price of the boxed processor; the throughput per dollar of MemcachedGPU and memcached implies 300 to 350 USD (table 6)" },
  pstates = {
    { clock = "3.5GHz", idle = "84W", one_core = "101W", all_cores = "151W",
      source = "idle: memcachedgpu.power.system_idle; all cores: 67 W more, as a server with an i7-4770K and no GPU draws 37 W idle and 104 W under load at the wall (hothardware.com, review of the i7-4770K, 2013); one core: assumed, a quarter of that" },
  },
}
