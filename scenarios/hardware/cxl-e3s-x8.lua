-- A CXL 2.0 memory expander with eight lanes of PCIe 5.0, in a server with two Xeon 8470. It reaches more with writes among the reads,
-- because its links work both ways; this is the rate of reads. Power and price are not published.
local wiki = "github.com/intel/CacheLib/wiki/OCP-demo-configuration (2023), CXL 2.0 memory expander, EDSFF E3.S, PCIe 5.0 x8: "
return {
  kind = "cxl",
  name = "CXL 2.0 expander, E3.S, x8, 96 GB",
  random_line = { "250ns", source = wiki .. "latency 250 ns" },
  next_line = { "9.461ns", source = "assumed: as ddr5-5600; prefetching hides the link" },
  line = { 64, source = "CXL 2.0: requests of 64 bytes" },
  capacity = { 96e9, source = wiki .. "96 GB" },
  bandwidth = { "17.8GB/s", source = wiki .. "all read 17.8 GB/s; 23.6 with 3 reads to a write, 27.2 with as many" },
}
