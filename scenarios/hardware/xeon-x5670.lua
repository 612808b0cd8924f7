-- One socket of BlueCache's application server. Fact ids are of Xu et al., BlueCache, PVLDB 10(4), 2016.
-- Its power is not published for idle cores or a single one, so sums of power leave it out; its TDP is 95 W (Intel ARK).
local same_code = "derived from the clocks: the same code on a Xeon E5-2650 v2, at 2.6 GHz: "
return {
  kind = "cpu",
  name = "Intel Xeon X5670",
  cores = { 6, source = "Intel ARK, Xeon X5670; two of them with 24 logical cores: bluecache.bg_bench.app.cores" },
  threads_per_core = { 2, source = "Intel ARK, Xeon X5670: 12 threads; bluecache.bg_bench.app.cores" },
  clock = { "2.93GHz", source = "sec. 6.4.1; Intel ARK, Xeon X5670: base clock" },
  packet = { "6.2ns", source = same_code .. "7 ns, megakv.bg.io_parse_cost" },
  operation = { "89ns", source = same_code .. "100 ns, kvdirect.hw.cpu.kv_compute" },
  lookahead = { "26.6ns", source = same_code .. "30 ns, kvdirect.hw.cpu.window" },
  llc = { "12MiB", source = "Intel ARK, Xeon X5670: 12 MB" },
  llc_hit_cycles = { 40, source = "Intel 64 and IA-32 Architectures Optimization Reference Manual, Nehalem: 35 to 40 cycles or more for a hit in the last-level cache" },
  price = { 1440, source = "Intel ARK, Xeon X5670: recommended customer price 1440 USD" },
}
