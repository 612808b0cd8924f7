-- All times and watts hold at the base clock, because turbo is not modelled. Power of idle cores or a single one is not published.
local ghz = 2.0
local sheet = "hardwareluxx.de 64561, Granite Rapids, September 2024: "
local same_code = "derived from the clocks: the same code "
return {
  kind = "cpu",
  name = "Intel Xeon 6980P (Granite Rapids)",
  cores = { 128, source = sheet .. "128 cores" },
  threads_per_core = { 2, source = "digitimes.com.tw, Intel Xeon 6980P: 256 threads" },
  clock = { ghz .. "GHz", source = sheet .. "base clock" },
  packet = { ("%.2fns"):format(6.751 * 2.1 / ghz), source = same_code .. "on Emerald Rapids at 2.1 GHz, 6.751 ns: validate/measured/h200-pcie5/machine.lua" },
  operation = { ("%.1fns"):format(100 * 2.6 / ghz), source = same_code .. "on a Xeon E5-2650 v2 at 2.6 GHz, 100 ns: kvdirect.hw.cpu.kv_compute" },
  root_rate = { "378.0GB/s", source = sheet .. "96 lanes of PCIe 5.0, 32 GT/s with 128b/130b each" },
  lookahead = { ("%.1fns"):format(30 * 2.6 / ghz), source = same_code .. "on a Xeon E5-2650 v2 at 2.6 GHz, 30 ns: kvdirect.hw.cpu.window" },
  llc = { "504MiB", source = sheet .. "504 MB" },
  llc_hit_cycles = { 87.0, source = "not published in such a file; as its predecessor: measured on Emerald Rapids, 2026-11-22: 43.5 ns for lines of 4 MiB (validate/measured/h200-pcie5/machine.lua), at the base clock" },
  price = { 17800, source = "iponshop.de, October 2024: 17800 USD each for 1000" },
  pstates = {
    { clock = ghz .. "GHz", all_cores = "500W", source = sheet .. "thermal design power, an upper bound" },
  },
}
