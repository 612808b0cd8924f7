-- All times and watts hold at the base clock, because turbo is not modelled. Power of idle cores or a single one is not published.
local ghz = 2.4
local sheet = "hpctech.co.jp, AMD EPYC 9004 series: "
local same_code = "derived from the clocks: the same code "
return {
  kind = "cpu",
  name = "AMD EPYC 9654 (Genoa)",
  cores = { 96, source = sheet .. "96 cores" },
  threads_per_core = { 2, source = sheet .. "192 threads" },
  clock = { ghz .. "GHz", source = sheet .. "base clock" },
  packet = { ("%.2fns"):format(6.751 * 2.1 / ghz), source = same_code .. "on Emerald Rapids at 2.1 GHz, 6.751 ns: validate/measured/h200-pcie5/machine.lua" },
  operation = { ("%.1fns"):format(100 * 2.6 / ghz), source = same_code .. "on a Xeon E5-2650 v2 at 2.6 GHz, 100 ns: kvdirect.hw.cpu.kv_compute" },
  root_rate = { "504.1GB/s", source = sheet .. "128 lanes of PCIe 5.0, 32 GT/s with 128b/130b each" },
  lookahead = { ("%.1fns"):format(30 * 2.6 / ghz), source = same_code .. "on a Xeon E5-2650 v2 at 2.6 GHz, 30 ns: kvdirect.hw.cpu.window" },
  llc = { "32MiB", source = sheet .. "32 MB of a complex, all that a core reaches; twelve of them" },
  llc_hit_cycles = { 54.7, source = "github.com/InstLatx64/InstLatx64, AuthenticAMD0A10F81_K19_StormPeak_01_NewMemLat.txt: 54.7 cycles on a Threadripper PRO 7995WX, the same die" },
  price = { 11805, source = "fanaticosdelhardware.com, AMD EPYC 9654 in PassMark: 11805 USD" },
  pstates = {
    { clock = ghz .. "GHz", all_cores = "360W", source = sheet .. "thermal design power, an upper bound" },
  },
}
