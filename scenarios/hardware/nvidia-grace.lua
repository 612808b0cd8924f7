-- All times and watts hold at the base clock, because turbo is not modelled. Power of idle cores or a single one is not published. No
-- price is published. The watts are half of the superchip's 500, its memory included.
local ghz = 3.1
local sheet = "NVIDIA, Grace CPU Superchip data sheet (resources.nvidia.com/en-us-grace-cpu/data-center-datasheet): "
local same_code = "derived from the clocks: the same code "
return {
  kind = "cpu",
  name = "NVIDIA Grace, one die",
  cores = { 72, source = sheet .. "144 cores in two dies" },
  threads_per_core = { 1, source = sheet .. "states cores only; no source states more than one thread a core" },
  clock = { ghz .. "GHz", source = sheet .. "base clock" },
  packet = { ("%.2fns"):format(6.751 * 2.1 / ghz), source = same_code .. "on Emerald Rapids at 2.1 GHz, 6.751 ns: validate/measured/h200-pcie5/machine.lua" },
  operation = { ("%.1fns"):format(100 * 2.6 / ghz), source = same_code .. "on a Xeon E5-2650 v2 at 2.6 GHz, 100 ns: kvdirect.hw.cpu.kv_compute" },
  root_rate = { "252.0GB/s", source = sheet .. "eight links of PCIe 5.0 x16 on two dies, 64 lanes each, 32 GT/s with 128b/130b each" },
  lookahead = { ("%.1fns"):format(30 * 2.6 / ghz), source = same_code .. "on a Xeon E5-2650 v2 at 2.6 GHz, 30 ns: kvdirect.hw.cpu.window" },
  llc = { "114MiB", source = sheet .. "228 MB in two dies" },
  llc_hit_cycles = { 117.8, source = "chipsandcheese.com, Grace Hopper, Nvidia's Halfway APU, July 2024: more than 38 ns, at the base clock" },
  pstates = {
    { clock = ghz .. "GHz", all_cores = "250W", source = sheet .. "thermal design power of 500 W for two dies with their memory, an upper bound" },
  },
}
