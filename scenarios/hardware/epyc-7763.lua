-- All times and watts hold at the base clock, because turbo is not modelled. Power of idle cores or a single one is not published.
local ghz = 2.45
local sheet = "techgage.com, AMD EPYC Milan launch, 2021: "
local same_code = "derived from the clocks: the same code "
return {
  kind = "cpu",
  name = "AMD EPYC 7763 (Milan)",
  cores = { 64, source = sheet .. "64 cores" },
  threads_per_core = { 2, source = sheet .. "128 threads" },
  clock = { ghz .. "GHz", source = sheet .. "base clock" },
  packet = { ("%.2fns"):format(6.751 * 2.1 / ghz), source = same_code .. "on Emerald Rapids at 2.1 GHz, 6.751 ns: validate/measured/h200-pcie5/machine.lua" },
  operation = { ("%.1fns"):format(100 * 2.6 / ghz), source = same_code .. "on a Xeon E5-2650 v2 at 2.6 GHz, 100 ns: kvdirect.hw.cpu.kv_compute" },
  root_rate = { "252.0GB/s", source = sheet .. "128 lanes of PCIe 4.0, 16 GT/s with 128b/130b each" },
  lookahead = { ("%.1fns"):format(30 * 2.6 / ghz), source = same_code .. "on a Xeon E5-2650 v2 at 2.6 GHz, 30 ns: kvdirect.hw.cpu.window" },
  llc = { "32MiB", source = sheet .. "32 MB of a complex, all that a core reaches; eight of them" },
  llc_hit_cycles = { 51.3, source = "github.com/InstLatx64/InstLatx64, AuthenticAMD0A20F10_K19_Vermeer2_NewMemLat.txt: 51.3 cycles on a Ryzen 9 5900X, the same die" },
  price = { 7890, source = "techgage.com, AMD EPYC Milan launch, 2021: 7890 USD each for 1000" },
  pstates = {
    { clock = ghz .. "GHz", all_cores = "280W", source = sheet .. "thermal design power, an upper bound" },
  },
}
