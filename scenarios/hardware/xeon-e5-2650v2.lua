-- One socket of Mega-KV's servers. Fact ids refer to Zhang et al., VLDB J. 26(5), 2017. P-states in steps of 100 MHz.
-- All cores at 2.6 GHz have the thermal design power, an upper bound. At lower clocks, the power of all cores above
-- idle is in proportion to the clock, as if the voltage stayed: an upper bound, too, because no voltages are published.
local idle, all = 15, 95
local idle_source = "assumed: no source was found for one idle processor; published is an idle node with two, 87 W "
  .. "(kvdirect.power.idle, Li et al., SOSP 2017), of which node.power has the other 57 W"
local pstates = {}
for steps = 26, 12, -1 do
  local added = (all - idle) * steps / 26
  pstates[#pstates + 1] = {
    clock = { steps * 100 .. "MHz", source = steps == 26 and "Intel ARK, Xeon E5-2650 v2: base clock"
      or "megakv.energy.cpu_step: 100 MHz, sec. 6; lowest clock of Xeon E5 v2 1.2 GHz (ratio of 12, MSR_PLATFORM_INFO)" },
    idle = { idle, source = idle_source },
    one_core = { ("%.1fW"):format(idle + added / 8), source = "derived: an eighth of what all cores add" },
    all_cores = { ("%.1fW"):format(idle + added), source = steps == 26 and "Intel ARK, Xeon E5-2650 v2: thermal design power"
      or "derived: what all cores add at 2.6 GHz, in proportion to the clock" },
  }
end

return {
  kind = "cpu",
  name = "Intel Xeon E5-2650 v2",
  cores = { 8, source = "megakv.hw.cpu.cores: sec. 8.1" },
  threads_per_core = { 2, source = "Intel ARK, Xeon E5-2650 v2: 8 cores, 16 threads" },
  clock = { "2.6GHz", source = "megakv.hw.cpu.clock: sec. 8.1" },
  packet = { "7ns", source = "megakv.bg.io_parse_cost: sec. 2.1.2, packet I/O and parsing per key with DPDK and Multiget" },
  operation = { "100ns", source = "kvdirect.hw.cpu.kv_compute: about 500 instructions for an operation on 64 bytes on the same processor, Li et al., SOSP 2017, sec. 2.2" },
  root_rate = { "39.38GB/s", source = "Intel ARK, Xeon E5-2650 v2: 40 lanes of PCIe 3.0, 8 GT/s with 128b/130b each" },
  lookahead = { "30ns", source = "kvdirect.hw.cpu.window: 100 to 200 instructions, the mean of 150 at kv_instr per kv_compute, 500 in 100 ns, sec. 2.2" },
  llc = { "20MiB", source = "Intel ARK, Xeon E5-2650 v2: 20 MB" },
  llc_hit_cycles = { 30, source = "L3 latency of Ivy Bridge, measured on an i7-3770 (7-cpu.com/cpu/IvyBridge.html)" },
  price = { 1162, source = "megakv.hw.cpu.price: sec. 8.1, when the authors bought it, 2014" },
  pstates = pstates,
}
