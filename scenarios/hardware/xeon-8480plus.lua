-- All times and watts hold at the base clock, because turbo is not modelled. Power of idle cores or a single one is not published.
local ghz = 2.0
local sheet = "Intel ARK, Xeon Platinum 8480+ (ark.intel.com/products/231746): "
local same_code = "derived from the clocks: the same code "
return {
  kind = "cpu",
  name = "Intel Xeon Platinum 8480+ (Sapphire Rapids)",
  cores = { 56, source = sheet .. "56 cores" },
  threads_per_core = { 2, source = sheet .. "112 threads" },
  clock = { ghz .. "GHz", source = sheet .. "base clock" },
  packet = { ("%.2fns"):format(6.751 * 2.1 / ghz), source = same_code .. "on Emerald Rapids at 2.1 GHz, 6.751 ns: validate/measured/h200-pcie5/machine.lua" },
  operation = { ("%.1fns"):format(100 * 2.6 / ghz), source = same_code .. "on a Xeon E5-2650 v2 at 2.6 GHz, 100 ns: kvdirect.hw.cpu.kv_compute" },
  root_rate = { "315.0GB/s", source = sheet .. "80 lanes of PCIe 5.0, 32 GT/s with 128b/130b each" },
  lookahead = { ("%.1fns"):format(30 * 2.6 / ghz), source = same_code .. "on a Xeon E5-2650 v2 at 2.6 GHz, 30 ns: kvdirect.hw.cpu.window" },
  llc = { "105MiB", source = sheet .. "105 MB" },
  llc_hit_cycles = { 87.0, source = "as its successor of the same mesh: measured on Emerald Rapids, 2026-11-22: 43.5 ns for lines of 4 MiB (validate/measured/h200-pcie5/machine.lua), at the base clock" },
  price = { 10710, source = "cpu-world.com, Intel Xeon Platinum 8480+: 10710 USD when introduced, January 2023" },
  pstates = {
    { clock = ghz .. "GHz", all_cores = "350W", source = sheet .. "thermal design power, an upper bound" },
  },
}
