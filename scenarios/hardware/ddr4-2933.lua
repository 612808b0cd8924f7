-- DDR4-2933 in eight channels, as EPYC of the third generation and Xeon Scalable of the third have them, with one module of two
-- ranks each. The time of a random line is that of EPYC 7742, whose I/O die EPYC 7763 has, at DDR4-3200. Power and price of the
-- modules are not published in their data sheets.
local clock = 2e3 / 2933
local preset = "Ramulator 2 (github.com/CMU-SAFARI/ramulator2, DDR4.cpp), DDR4_2933Y: "
local function ns(clocks) return ("%.4gns"):format(clocks * clock) end
return {
  kind = "dram",
  base = "ddr4-3200",
  name = "eight channels of DDR4-2933",
  transfers = { 2933e6, source = "JEDEC JESD79-4" },
  tRC = { ns(68), source = preset .. "nRC 68" },
  tRC_write = { ns(21 + 16 + 4 + 22 + 21), source = preset .. "nRCD 21, nCWL 16, nBL 4, nWR 22 and nRP 21" },
  tRRD = { ns(4), source = preset .. "nRRDS 4" },
  tFAW = { ns(16), source = preset .. "nFAW 16 of x4 chips" },
  tCL = { ns(21), source = preset .. "nCL 21" },
  tWTR = { ns(4), source = preset .. "nWTRS 4" },
  tRTW = { ns(2), source = preset .. "nCL + nBL + 2 - nCWL from read to write command" },
  tRTRS = { ns(2), source = preset .. "nCS 2" },
  tRFC = { "550ns", source = preset .. "16 Gbit" },
  tREFI = { "7.8us", source = preset .. "7800 ns" },
}
