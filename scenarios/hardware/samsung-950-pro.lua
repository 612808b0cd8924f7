-- The drive of BlueCache's table 1, with a translation layer. The controller's time and the access time are rates of the data
-- sheet; what follows from the chips is predicted, and drives_test.c compares it. Fact ids are of Xu et al., BlueCache, PVLDB
-- 10(4), 2016.
local sheet = "Samsung, SSD 950 PRO data sheet, 2015, 512 GB: "
local chip = "Park et al., 128Gb MLC vertical NAND with 24 layers, ISSCC 2014, sec. 19.5: "
local micron = "not published; as Micron MT29F64G08CBAAA: "
local pcie = "PCI Express Base Specification 3.0: "
return {
  kind = "flash",
  name = "Samsung 950 PRO, 512 GB",
  channels = { 8, source = "tweakers.net, review of the 950 PRO, 2015: UBX controller with eight channels" },
  chips = { 4, source = "techgage.com, 2015: 32-layer chips of 128 Gbit; 512 GiB of them on 8 channels" },
  blocks = { 3814, source = sheet .. "512 GB for the host; the drive keeps the rest" },
  pages_per_block = { 256, source = micron .. "256 pages" },
  page = { "16KiB", source = chip .. "two planes of 8 KB, which program together" },
  spare = { 896, source = micron .. "448 bytes for 8 KiB" },
  sector = { "4KiB", source = sheet .. "rates are stated for 4 KB" },
  read = { "49us", source = chip .. "read time" },
  program = { "328us", source = chip .. "50 MB/s, 16 KiB at a time" },
  erase = { "3ms", source = micron .. "erase block, typical" },
  channel_rate = { "400MB/s", source = "JEDEC JESD230, Toggle DDR 2.0: 400 MT/s of 8 bits; the drive's own rate is not published" },
  operation = { "3.333us", source = sheet .. "300000 random reads a second at a queue depth of 32 with 4 threads, which the chips would exceed" },
  interface = { "3.6GB/s", source = pcie .. "4 lanes of 8 GT/s, 128 of 130 bits, 256 of 280 bytes of a packet are data" },
  access = { "18.79us", source = sheet .. "43000 random writes a second one at a time, which DRAM acknowledges: 23.26 us less controller and interface" },
  over_provisioning = { 0.0737, source = "512 GiB of chips, of which the host sees 512 GB" },
  tags = { 1024, source = "assumed: more than the queue depths of the data sheet, 32 with 4 threads" },
  price = { 318.59, source = "bluecache.t1.950pro.price, 2016" },
  idle = { "0.07W", source = sheet .. "idle" },
  busy = { "5.7W", source = "bluecache.t1.950pro.power; " .. sheet .. "active, average" },
}
