-- Memory of DIDO's APU. Fact ids refer to Zhang et al., DIDO, ICDE 2017. Its modules are not published: modules of 4 GB
-- were sold with one rank of 4 Gbit chips and with two of 2 Gbit.
local jedec = "JEDEC JESD79-3F, DDR3-1333 9-9-9 (clock of 1.5 ns): "
return {
  kind = "dram",
  base = "ddr3-1333-e5v2",
  name = "4x 4 GiB DDR3-1333 at A10-7850K",
  random_line = { "80ns", source = "assumed, between 70 and 95 ns: no stored measurement states the latency of this processor; a Xeon X5570 with DDR3-1333 takes 65 ns (Molka et al., PACT 2009), a Xeon E5-2650 v2 82 ns (kvdirect.t4.lat.local0.idle)" },
  next_line = { "10.333ns", source = "not published; megakv.hw.cpu.seq16_access and random_access: Xeon E5-2650 v2 with DDR3-1600, Zhang et al., VLDB J. 26(5), 2017" },
  line = { 64, source = "GCC, bdver3_cost: blocks of 64 bytes" },
  channels = { 2, source = "AMD BIOS and Kernel Developer's Guide, family 15h models 30h-3Fh: two DDR3 channels" },
  ranks = { 2, source = "dido.hw.mem.dimms: four modules on two channels; assumed: one rank each, of chips of 4 Gbit" },
  transfers = { 4000e6 / 3, source = "dido.hw.mem.ddr3: sec. V.A" },
  bus = { 8, source = "JEDEC JESD79-3F and module: 64 bits" },
  write_queue = { 32, source = "not published for this processor; Intel 327043-001, Xeon E5-2600 Uncore Performance Monitoring Guide: WPQ_OCCUPANCY, at most 32" },
  tRFC = { "260ns", source = jedec .. "chips of 4 Gbit" },
}
