-- DDR5-4800 in 12 channels of two subchannels, as AMD EPYC 9654 has them, with one module of two ranks each.
-- Power and price of the modules are not published in their data sheets.
return {
  kind = "dram",
  base = "ddr5-4800",
  name = "12 channels of DDR5-4800",
  random_line = { "112.9ns", source = "github.com/InstLatx64/InstLatx64, AuthenticAMD0A10F81_K19_StormPeak_01_NewMemLat.txt: memory, random in full, on a Threadripper PRO 7995WX, the same dies" },
  next_line = { "2.45ns", source = "github.com/InstLatx64/InstLatx64, AuthenticAMD0A10F81_K19_StormPeak_01_NewMemLat.txt: memory, linear forward, on a Threadripper PRO 7995WX, the same dies" },
  channels = { 24, source = "AMD EPYC 9654: 12 channels; JEDEC JESD79-5: two subchannels each" },
}
