-- The needs of the node that the paper foresees (sec. 5.3: 8 TB, 2.5 million GETs a second of pages of 8 KB, less than
-- 50 W). Use the closed form (kvcast predict, kvcast sweep --predict). 17 of the paper's cards read as fast, and 16
-- hold 8 TB. Responses are 20 GB/s, which only PCIe of the fifth generation carries among the profiles. Board and cards
-- draw 126 W, cards of 6 W alone 96, so that the cards of the node must draw a fifth of the prototype's.
-- production_today.lua has drives of today.
return {
  name = "bluecache-production",
  system = { kind = "bluecache", index = "64MiB", dram = "0B", flash = "16GiB", outstanding = 4096 },
  node = { flash = { base = "bluecache-flash", cards = 16 }, pcie = "pcie5-x16" },
  workload = { keys = 1e6, key = 32, value = 8104, get = 1, set = 0, arrival = "saturate" },
  run = { duration = "10ms" },
  sweep = {
    ["node.flash.cards"] = { 8, 12, 14, 16 },
    ["node.pcie"] = { "pcie1-x8-vc707", "pcie2-x16-k20c", "pcie3-k40c", "pcie5-x16" },
  },
}
