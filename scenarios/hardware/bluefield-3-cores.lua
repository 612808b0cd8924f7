-- The cores of NVIDIA's BlueField-3. Power and price are not published for them apart from the card's.
local ghz = 2.0
local manual = "NVIDIA, BlueField-3 networking platform user guide, docs.nvidia.com/networking/display/bf3dpu: "
local same_code = "derived from the clocks: the same code "
return {
  kind = "card_cpu",
  name = "NVIDIA BlueField-3, 16 Cortex-A78",
  cores = { 16, source = manual .. "supported interfaces, 16 Arm cores; DOCA documentation 3.2.1, hardware architecture: Cortex-A78" },
  threads_per_core = { 1, source = "Arm, Cortex-A78 Core Technical Reference Manual: one thread a core" },
  clock = { ghz .. "GHz", source = "yobitel.com/knowledge-base/bluefield-3-dpu: 2.0 GHz; NVIDIA publishes none" },
  packet = { ("%.2fns"):format(6.751 * 2.1 / ghz), source = same_code .. "on Emerald Rapids at 2.1 GHz, 6.751 ns: validate/measured/h200-pcie5/machine.lua" },
  operation = { ("%.1fns"):format(100 * 2.6 / ghz), source = same_code .. "on a Xeon E5-2650 v2 at 2.6 GHz, 100 ns: kvdirect.hw.cpu.kv_compute" },
  lookahead = { ("%.1fns"):format(30 * 2.6 / ghz), source = same_code .. "on a Xeon E5-2650 v2 at 2.6 GHz, 30 ns: kvdirect.hw.cpu.window" },
  llc = { "16MiB", source = "emergentmind.com/topics/nvidia-bluefield-3-bf3, after the papers that it lists: 16 MB of shared L3" },
  llc_hit_cycles = { 76, source = "assumed, not published: 38 ns as on nvidia-grace, whose cores share a mesh as well" },
}
