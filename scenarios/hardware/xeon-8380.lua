-- All times and watts hold at the base clock, because turbo is not modelled. Power of idle cores or a single one is not published.
local ghz = 2.3
local sheet = "Intel ARK, Xeon Platinum 8380 (ark.intel.com/products/212287): "
local same_code = "derived from the clocks: the same code "
return {
  kind = "cpu",
  name = "Intel Xeon Platinum 8380 (Ice Lake)",
  cores = { 40, source = sheet .. "40 cores" },
  threads_per_core = { 2, source = sheet .. "80 threads" },
  clock = { ghz .. "GHz", source = sheet .. "base clock" },
  packet = { ("%.2fns"):format(6.751 * 2.1 / ghz), source = same_code .. "on Emerald Rapids at 2.1 GHz, 6.751 ns: validate/measured/h200-pcie5/machine.lua" },
  operation = { ("%.1fns"):format(100 * 2.6 / ghz), source = same_code .. "on a Xeon E5-2650 v2 at 2.6 GHz, 100 ns: kvdirect.hw.cpu.kv_compute" },
  root_rate = { "126.0GB/s", source = sheet .. "64 lanes of PCIe 4.0, 16 GT/s with 128b/130b each" },
  lookahead = { ("%.1fns"):format(30 * 2.6 / ghz), source = same_code .. "on a Xeon E5-2650 v2 at 2.6 GHz, 30 ns: kvdirect.hw.cpu.window" },
  llc = { "60MiB", source = sheet .. "60 MB" },
  llc_hit_cycles = { 50.7, source = "github.com/InstLatx64/InstLatx64, GenuineIntel0050654_SkylakeX2_NewMemLat.txt: 22.0 ns on a Core i7-7800X, whose mesh this processor inherits, at the base clock; not published for this processor in such a file" },
  price = { 8099, source = "servethehome.com, Intel Xeon Ice Lake Edition, April 2021: 8099 USD" },
  pstates = {
    { clock = ghz .. "GHz", all_cores = "270W", source = sheet .. "thermal design power, an upper bound" },
  },
}
