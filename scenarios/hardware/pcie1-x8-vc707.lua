-- The link between host and BlueCache's card, a VC707 with PCIe of the first generation. Fact ids are of Xu et al., BlueCache, PVLDB
-- 10(4), 2016.
return {
  kind = "pcie",
  name = "PCIe 1.0 x8 to VC707, through Connectal",
  h2d = { "1.2GB/s", source = "bluecache.hw.pcie.to_fpga_6 (sec. 5.1 says 1 GB/s)" },
  d2h = { "1.6GB/s", source = "bluecache.hw.pcie.from_fpga" },
  latency = { "10us", source = "bluecache.dram.pcie_lat_dir" },
}
