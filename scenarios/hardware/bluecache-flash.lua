-- One flash card of BlueCache. Fact ids are of Xu et al., BlueCache, PVLDB 10(4), 2016.
-- The paper describes the card by its rates only; the card's thesis and the source of its controller give the layout, and
-- the chips are taken as the ones with such pages. Its controller visits the chips of a bus in turn, which costs a fifth of the
-- bus: the paper measures 150000 random reads a second, 1.2 GB/s, and the thesis calls it 75 % of the card's limit.
-- The chips program 390 MB/s, and the paper measures 430 (bluecache.hw.flash.write_bw).
local thesis = "M. Liu, BlueFlash, master's thesis, MIT, 2014 (hdl.handle.net/1721.1/92962): "
local source = "source of the card's controller (github.com/m-liu/NandController): "
local bus = "source of the card's controller (github.com/sangwoojun/bluedbm, flash/src/hw_artix, 100 MHz): "
local chip = "Micron MT29F64G08CBAAA data sheet (64 Gbit MLC, pages of 8192 + 448 bytes): "
return {
  kind = "flash",
  name = "BlueCache, one card of 0.5 TB",
  channels = { 8, source = thesis .. "1.2 GB/s are 75 % of the card's limit, 8 buses of 200 MB/s" },
  chips = { 8, source = source .. "ChipsPerBus; with 8 buses and 64 Gbit a chip, the 0.5 TB of bluecache.t4.bluecache.cap" },
  blocks = { 4096, source = chip .. "2 planes of 2048 blocks" },
  pages_per_block = { 256, source = chip .. "block of 256 pages (the paper says 64 to 128 are typical)" },
  page = { "8KiB", source = "bluecache.flash.page: sec. 5.1" },
  spare = { 408, source = source .. "pageSize 8600, pageSizeUser 8192" },
  read = { "50us", source = chip .. "read page, at most" },
  program = { "1300us", source = chip .. "program page, typical" },
  erase = { "3ms", source = chip .. "erase block, typical" },
  channel_rate = { "200MB/s", source = chip .. "synchronous timing mode 5, 200 MT/s of 8 bits; " .. source .. "sync mode 5" },
  command = { "0.99us", source = bus .. "53 cycles of a read command, 46 around the data" },
  status = { "0.47us", source = bus .. "47 cycles" },
  first_poll = { "30us", source = bus .. "Scoreboard: 3000 cycles after the command of a read" },
  poll = { "5us", source = bus .. "Scoreboard: 500 cycles after a chip was busy" },
  tags = { 128, source = "source of BlueDBM (flash/src/common/ControllerTypes): NumTags" },
  endurance = { 3000, source = "Z. Kerekes, MLC flash in enterprise SSDs (storagesearch.com, 2011): what MLC in SSDs of that time is "
    .. "typically rated at; the paper does not state it for these chips" },
  busy = { "6W", source = thesis .. "power of the card" },
}
