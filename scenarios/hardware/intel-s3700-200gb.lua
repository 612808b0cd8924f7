-- A data-center drive of 2012. Its chips have a longer life (HET) than the ones whose data sheet is public, and may therefore
-- program more slowly. The controller's time and the access time follow from rates of the data sheet; all that follows from chips
-- and translation layer is predicted, and drives_writes_test.c compares it.
local sheet = "Intel, SSD DC S3700 Series product specification, 328171, 2.5 inch, 200 GB: "
local chip = "Micron MT29F64G08CBAAA data sheet, 25 nm MLC of the joint factory of Intel and Micron: "
local review = "tomshardware.com, Intel SSD DC S3700, 2012: "
return {
  kind = "flash",
  name = "Intel SSD DC S3700, 200 GB",
  channels = { 8, source = review .. "eight channels" },
  chips = { 4, source = review .. "264 GiB in 16 packages; 33 chips of 64 Gbit, of which one is taken to hold parity" },
  blocks = { 1490, source = sheet .. "200 GB for the host; the drive keeps the rest" },
  pages_per_block = { 256, source = chip .. "256 pages" },
  page = { "16KiB", source = chip .. "two planes of 8 KiB, which program together" },
  spare = { 896, source = chip .. "448 bytes for 8 KiB" },
  sector = { "4KiB", source = sheet .. "rates are stated for 4 KB" },
  read = { "50us", source = chip .. "read page, at most" },
  program = { "1300us", source = chip .. "program page, typical" },
  erase = { "3ms", source = chip .. "erase block, typical" },
  channel_rate = { "200MB/s", source = chip .. "synchronous timing mode 5, 200 MT/s of 8 bits" },
  operation = { "13.33us", source = sheet .. "75000 random reads a second at a queue depth of 32, which the chips would exceed" },
  interface = { "600MB/s", source = "Serial ATA 3.0: 6 Gbit/s, 8 of 10 bits are data; frames and their gaps are left out" },
  access = { "44.84us", source = sheet .. "latency of a write, 65 us, less controller and interface" },
  tags = { 32, source = "Serial ATA: native command queuing" },
  over_provisioning = { 0.374, source = review .. "256 GiB of chips without parity, of which the host sees 200 GB" },
  price = { 470, source = "Intel, announcement of the SSD DC S3700, November 2012: 470 USD each for 1000 drives of 200 GB" },
  idle = { "0.65W", source = sheet .. "idle" },
  busy = { "6W", source = sheet .. "active, typical" },
}
