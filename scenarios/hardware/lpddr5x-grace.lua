-- Memory on the board of NVIDIA Grace. Its timing is not published, so that random lines cost their bytes. The watts are part of the
-- processor's, and no price is published.
return {
  kind = "dram",
  name = "LPDDR5X of one Grace",
  random_line = { "200ns", source = "chipsandcheese.com, Grace Hopper, Nvidia's Halfway APU, July 2024: more than 200 ns" },
  next_line = { "2.45ns", source = "assumed: as ddr5-4800-genoa" },
  line = { 64, source = "Arm, Neoverse V2 Technical Reference Manual: cache line" },
  bandwidth = { "500GB/s", source = "NVIDIA, Grace CPU Superchip Architecture In Depth (developer.nvidia.com): up to 1 TB/s of two dies" },
  idle_power = { "0W", source = "part of the processor's" },
  busy_power = { "0W", source = "part of the processor's" },
}
