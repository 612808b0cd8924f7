-- A data-center drive of today, with a translation layer. Its chips' times are not published, so the times of
-- another maker's chips of a similar generation replace them. drives_test.c and drives_writes_test.c compare the
-- predictions with its data sheet.
local sheet = "Micron, 9550 MAX NVMe SSD product brief, 2024, 12.8 TB: "
local chip = "Micron, 232-layer NAND, 2022: "
local assumed = "not published; as Cho et al., 512Gb 3b/cell 7th-generation 3D-NAND with 184MB/s, ISSCC 2021, sec. 30.3: "
local pcie = "PCI Express Base Specification 5.0: "
return {
  kind = "flash",
  name = "Micron 9550 MAX, 12.8 TB",
  channels = { 16, source = "assumed: as other controllers of data-center drives with PCIe 5.0 x4" },
  chips = { 48, source = chip .. "1 Tbit, 6 planes that read on their own; 8 of them on each of 16 channels are 16 TiB" },
  blocks = { 365, source = sheet .. "12.8 TB for the host; the drive keeps the rest" },
  pages_per_block = { 2784, source = "assumed: 232 layers, 4 strings, 3 bits" },
  page = { "16KiB", source = "assumed: as earlier TLC chips of Micron, 16384 + 2208 bytes" },
  spare = { 2208, source = "assumed: as earlier TLC chips of Micron, 16384 + 2208 bytes" },
  sector = { "4KiB", source = sheet .. "rates are stated for 4 KB" },
  read = { "40us", source = assumed .. "read time" },
  program = { "356us", source = assumed .. "184 MB/s with 4 planes of 16 KiB" },
  erase = { "3.8ms", source = "not published; as the standard configuration of MQSim (github.com/CMU-SAFARI/MQSim, ssdconfig.xml)" },
  channel_rate = { "2400MB/s", source = chip .. "ONFI 5.0, 2400 MT/s of 8 bits" },
  interface = { "14.4GB/s", source = pcie .. "4 lanes of 32 GT/s, 128 of 130 bits, 256 of 280 bytes of a packet are data" },
  access = { "14.72us", source = sheet .. "typical latency of a write, 15 us, which DRAM acknowledges, less the interface" },
  program_rate = { "10GB/s", source = sheet .. "written in a row, as fast as by models of 3.2 to 25.6 TB with 32 to 256 chips" },
  over_provisioning = { 0.374, source = "16 TiB of chips, of which the host sees 12.8 TB; what parity takes is not published" },
  tags = { 1024, source = "assumed: more than the queue depths of the data sheet" },
  idle = { "5W", source = "assumed: as data-center drives of this size state it" },
  busy = { "18W", source = sheet .. "no more than 18 W on average" },
}
