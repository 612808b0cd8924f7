-- The SSD of BlueCache's Fatcache. Fact ids refer to Xu et al., BlueCache, PVLDB 10(4), 2016. The paper gives only its
-- rates, 130000 reads of 8 KB a second and 1 GB/s, which are inputs here; its layout and chips are assumed equal to
-- BlueCache's card, because "the SSD performs like BlueCache's Flash board" and "the actual Flash access latency is the
-- same" (sec. 6.3). The time of a translation layer and a PCIe link is left out.
local chip = "as bluecache-flash (sec. 6.3): Micron MT29F64G08CBAAA data sheet (64 Gbit MLC, pages of 8192 + 448 bytes): "
return {
  kind = "flash",
  name = "Samsung M.2 PCIe SSD, 0.5 TB",
  channels = { 8, source = "as bluecache-flash (sec. 6.3)" },
  chips = { 8, source = chip .. "0.5 TB of such chips, bluecache.t4.fatcache.cap" },
  blocks = { 4096, source = chip .. "2 planes of 2048 blocks" },
  pages_per_block = { 256, source = chip .. "block of 256 pages" },
  page = { "8KiB", source = "bluecache.t4.fatcache.iops: 8 KB page reads" },
  spare = { 0, source = "part of the channel rate" },
  read = { "50us", source = chip .. "read page, at most" },
  program = { "1300us", source = chip .. "program page, typical" },
  erase = { "3ms", source = chip .. "erase block, typical" },
  channel_rate = { "133.12MB/s", source = "bluecache.t4.fatcache.iops: 130000 reads of 8 KB a second over 8 channels, 1.06 GB/s; bluecache.t4.fatcache.bw: 1 GB/s" },
}
