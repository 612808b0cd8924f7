-- PCIe of the second generation to the same card, which BlueCache's authors planned. Fact ids are of Xu et al., BlueCache,
-- PVLDB 10(4), 2016.
return {
  kind = "pcie",
  name = "PCIe 2.0 x8 to VC707, through Connectal",
  h2d = { "2.4GB/s", source = "bluecache.multi.gen2: twice bluecache.hw.pcie.to_fpga_6" },
  d2h = { "3.2GB/s", source = "bluecache.multi.gen2: twice bluecache.hw.pcie.from_fpga" },
  latency = { "10us", source = "bluecache.dram.pcie_lat_dir, of the first generation; the second is not published" },
}
