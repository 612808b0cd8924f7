-- Logs on a drive with a translation layer. Each instance of Fatcache overwrites its oldest slab, so that a single one writes in
-- order and the drive moves nothing. Four of them fill the drive's blocks with a mixture of their slabs, which die at different
-- times: the drive programs 1.9 times as much as they write. It serves 58000 requests a second, and the 99th percentile is
-- 7.4 ms; with over_provisioning = "none", where pages are programmed wherever the store says, these are 88000 and 4.4 ms. The drive
-- is a 950 PRO with half of the chips, of which 512 MiB stand for all of its capacity, with the same share in reserve.
return {
  name = "flash_translation",
  node = { sockets = 1, flash = { base = "samsung-950-pro", chips = 2 } },
  system = {
    kind = "fatcache", loopback = true, instances = 4, entries = 2e5, slab_memory = "4MiB", disk = "512MiB",
  },
  workload = { keys = 4e5, key = 32, value = 8000, get = 0.5, set = 0.5, arrival = { clients = 64 } },
  run = { warmup = "2s", duration = "2s", bottleneck = "utilization" },
  sweep = { ["system.instances"] = { 1, 4 }, ["node.flash.over_provisioning"] = { 0.0737, "none" } },
}
