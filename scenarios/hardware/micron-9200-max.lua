-- A data-center drive of 2017 with PCIe 3.0. Reads one at a time and the controller's rate are inputs from its data sheet. No price is
-- published.
local sheet = "Micron, 9200 NVMe SSDs data sheet, MTFDHAL6T4TCU: "
local assumed = "not published; as micron-9550-max"
return {
  kind = "flash",
  name = "Micron 9200 MAX, 6.4 TB",
  channels = { 16, source = assumed },
  chips = { 11, source = "8 TiB of chips of 384 Gbit on 16 channels" },
  blocks = { 5781, source = sheet .. "6.4 TB for the host; the drive keeps the rest" },
  pages_per_block = { 384, source = "assumed: 32 layers, 4 strings, 3 bits" },
  page = { "16KiB", source = assumed },
  spare = { 2208, source = assumed },
  sector = { "4KiB", source = sheet .. "rates are stated for 4 KB" },
  read = { "62.28us", source = sheet .. "typical latency of a read, less access, controller and interface" },
  program = { "356us", source = assumed },
  erase = { "3.8ms", source = assumed },
  channel_rate = { "533MB/s", source = "ONFI 4.0: 533 MT/s of 8 bits; the drive's own rate is not published" },
  operation = { "1.19us", source = sheet .. "840000 random reads a second, which the chips would exceed" },
  interface = { "3.6GB/s", source = "PCI Express Base Specification 3.0: 4 lanes of 8 GT/s, 128 of 130 bits, 256 of 280 bytes of a packet are data" },
  access = { "18.67us", source = sheet .. "latency of a write, 21 us, which DRAM acknowledges, less controller and interface" },
  program_rate = { "3.5GB/s", source = sheet .. "written in a row, up to 3.5 GB/s" },
  over_provisioning = { 0.374, source = "8 TiB of chips, of which the host sees 6.4 TB" },
  tags = { 1024, source = "assumed: more than the queue depths of the data sheet" },
  idle = { "8W", source = sheet .. "less than 8 W" },
  busy = { "25W", source = sheet .. "25 W with a limit" },
}
