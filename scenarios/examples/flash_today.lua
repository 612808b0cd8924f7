-- BlueCache's design on hardware of today: four FPGA cards on PCIe 5.0 x16 with HBM, two NVMe drives each, and links of
-- 100 Gbit/s. GETs of 1 KB saturate it at 22.4 million a second with a 99th percentile of 0.27 ms, at 904 W, of which the FPGA
-- cards may draw 760. The interface of the drives is the bottleneck, PCIe 5.0 x4: each record takes 1.25 sectors of 4 KiB. The
-- sweep adds drives: 2.8 million GETs a second each. Six of them want more than the 1024 requests a host keeps in flight; with
-- 4096, the links are the bottleneck at 62.8 million. Blocks have 4 pages instead of 2784, which GETs do not notice, so that a
-- small log fits into memory.
return {
  name = "flash_today",
  system = { kind = "bluecache", dram = "0B", index = "8MiB", flash = "600MiB", outstanding = 1024 },
  cluster = { nodes = 4 },
  node = {
    pcie = "pcie5-x16", fpga = "alveo-v80", dram = "hbm2e-v80", fabric = "aurora-4x100g",
    flash = { base = "micron-9550-max", cards = 2, blocks = 254040, pages_per_block = 4 },
  },
  workload = { keys = 200e3, key = 32, value = 1000, get = 1, set = 0, arrival = "saturate" },
  run = { duration = "10ms" },
  sweep = { ["node.flash.cards"] = { 1, 2, 4, 6 } },
}
