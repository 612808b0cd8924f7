-- A data-center drive of 2023 with PCIe 4.0. The controller's rate is an input. For the latency of one read or write, the power and
-- the price, no source was found: reads and access are as of micron-9550-max, watts and price are absent.
local sheet = "Micron, 9400 NVMe SSD, 2023 (computerbase.de 2023-01): "
local assumed = "not published; as micron-9550-max"
return {
  kind = "flash",
  name = "Micron 9400 MAX, 6.4 TB",
  channels = { 16, source = assumed },
  chips = { 32, source = "8 TiB of chips of 512 Gbit, 4 planes that read on their own, which are chips here on 16 channels" },
  blocks = { 361, source = sheet .. "6.4 TB for the host; the drive keeps the rest" },
  pages_per_block = { 2112, source = "assumed: 176 layers, 4 strings, 3 bits" },
  page = { "16KiB", source = assumed },
  spare = { 2208, source = assumed },
  sector = { "4KiB", source = sheet .. "rates are stated for 4 KB" },
  read = { "40us", source = assumed },
  program = { "356us", source = "not published; as Cho et al., 512Gb 3b/cell 7th-generation 3D-NAND with 184MB/s, ISSCC 2021, sec. 30.3: 184 MB/s with 4 planes of 16 KiB" },
  erase = { "3.8ms", source = assumed },
  channel_rate = { "1600MB/s", source = "ONFI 4.2: 1600 MT/s of 8 bits; the drive's own rate is not published" },
  operation = { "0.625us", source = sheet .. "1600000 random reads a second, which the chips would exceed" },
  interface = { "7.2GB/s", source = "PCI Express Base Specification 4.0: 4 lanes of 16 GT/s, 128 of 130 bits, 256 of 280 bytes of a packet are data" },
  access = { "13.81us", source = "derived: latency of a write as of micron-9550-max, 15 us, less controller and interface" },
  program_rate = { "7GB/s", source = sheet .. "written in a row, 7 GB/s" },
  over_provisioning = { 0.374, source = "8 TiB of chips, of which the host sees 6.4 TB" },
  tags = { 1024, source = "assumed: more than the queue depths of the data sheet" },
}
