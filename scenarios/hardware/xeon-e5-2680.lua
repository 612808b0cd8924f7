-- One socket of MICA's server (Lim et al., NSDI 2014), which MemcachedGPU compares with. Fact ids are of Hetherington
-- et al., SoCC 2015. Its power is not published for idle cores or a single one, so sums of power leave it out.
local same_code = "derived: the same code on a Xeon E5-2650 v2, at 2.6 GHz: "
return {
  kind = "cpu",
  name = "Intel Xeon E5-2680",
  cores = { 8, source = "Intel ARK, Xeon E5-2680; two of them: table 6" },
  threads_per_core = { 1, source = "Lim et al., NSDI 2014, sec. 5.1: hyper-threading off" },
  clock = { "2.7GHz", source = "Intel ARK, Xeon E5-2680: base clock" },
  packet = { "6.7ns", source = same_code .. "7 ns, megakv.bg.io_parse_cost" },
  operation = { "96ns", source = same_code .. "100 ns, kvdirect.hw.cpu.kv_compute" },
  root_rate = { "39.38GB/s", source = "Intel ARK, Xeon E5-2680: 40 lanes of PCIe 3.0, 8 GT/s with 128b/130b each" },
  lookahead = { "29ns", source = same_code .. "30 ns, kvdirect.hw.cpu.window" },
  llc = { "20MiB", source = "Intel ARK, Xeon E5-2680: 20 MB" },
  llc_hit_cycles = { 31, source = "Intel 64 and IA-32 Architectures Optimization Reference Manual, Sandy Bridge: 26 to 31 cycles for a hit in the last-level cache" },
  price = { 1723, source = "Intel ARK, Xeon E5-2680: recommended customer price 1723 to 1727 USD" },
}
