-- All times and watts hold at the base clock, because turbo is not modelled. Power of idle cores or a single one is not published.
local ghz = 1.9
local sheet = "Intel ARK, Xeon Platinum 8592+, as github.com/toUpperCase78/intel-processors (v1.9) records it: "
local same_code = "derived from the clocks: the same code "
return {
  kind = "cpu",
  name = "Intel Xeon Platinum 8592+ (Emerald Rapids)",
  cores = { 64, source = sheet .. "64 cores" },
  threads_per_core = { 2, source = sheet .. "128 threads" },
  clock = { ghz .. "GHz", source = sheet .. "base clock" },
  packet = { ("%.2fns"):format(6.751 * 2.1 / ghz), source = same_code .. "on Emerald Rapids at 2.1 GHz, 6.751 ns: validate/measured/h200-pcie5/machine.lua" },
  operation = { ("%.1fns"):format(100 * 2.6 / ghz), source = same_code .. "on a Xeon E5-2650 v2 at 2.6 GHz, 100 ns: kvdirect.hw.cpu.kv_compute" },
  root_rate = { "315.0GB/s", source = "tomshardware.com, Intel's 5th Gen Xeon Emerald Rapids pushes up to 64 cores, December 2023: 80 lanes of PCIe 5.0, 32 GT/s with 128b/130b each" },
  lookahead = { ("%.1fns"):format(30 * 2.6 / ghz), source = same_code .. "on a Xeon E5-2650 v2 at 2.6 GHz, 30 ns: kvdirect.hw.cpu.window" },
  llc = { "320MiB", source = sheet .. "320 MB" },
  llc_hit_cycles = { 82.7, source = "measured on Emerald Rapids, 2026-11-22: 43.5 ns for lines of 4 MiB (validate/measured/h200-pcie5/machine.lua), at the base clock" },
  price = { 11600, source = "tomshardware.com, review of the Xeon Platinum 8592+, December 2023: 11600 USD" },
  pstates = {
    { clock = ghz .. "GHz", all_cores = "350W", source = sheet .. "thermal design power, an upper bound" },
  },
}
