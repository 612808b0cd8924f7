-- Values on an NVMe drive behind an index in DRAM, for a store with more values than DRAM has room for. A GET searches the index and
-- reads the one or two sectors of 4 KiB in which its item lies. A SET appends its item to a write buffer in DRAM, from which whole
-- pages go to a log on the drive, and is answered at once.
--
-- The drive alone is not enough: all GETs of a popular key go to the one chip that has its item, and wait there while the chips are
-- 5 % busy on average. The hot tier keeps copies of popular items in DRAM. With 32 MiB, 3 % of the values, the 99th percentile is
-- 62 us, little more than a read of the drive takes. With --set system.hot.size=2MiB it is 85 us, and without `hot` and the operations
-- on it, 1.5 ms. The closed form knows only the mean load of the chips, and misses that tail.
-- `kvcast run --set workload.arrival=saturate` finds the limit at 7.3 million requests a second: the interface of the drive.
return {
  name = "composed_nvme_values",
  system = {
    kind = "composed", pipelines = 4, outstanding = 4096,
    index = { kernel = "memc3" },
    values = { kernel = "log", memory = "flash", buffer = "4MiB" },
    hot = { kernel = "memc3", size = "32MiB" },
    stages = {
      { name = "receive", on = "nic.rx" },
      -- The cycles are what MICA's code takes for a request (scenarios/composed/mica.lua); the lines of the indexes are counted here.
      { name = "search", on = "cpu", pool = "core", cycles = 283,
        does = { "parse", "hot.search", "hot.erase", "search", "hot.read" } },
      -- SPDK's driver asks for a read and takes its answer 13.85 million times a second on a core of a Xeon 8380 at 3.4 GHz
      -- (spdk.io/news/2021/05/06/nvme-80m-iops): 245 cycles.
      { name = "ask the drive", on = "cpu", pool = "core", cycles = 245, when = { "get", "cold" } },
      { name = "values", on = "flash", does = { "write", "read" } },
      { name = "update", on = "cpu", pool = "core", does = { "insert", "erase", "hot.fill" } },
      { name = "send", on = "nic.tx" },
    },
  },
  -- The profiles have the sources of their numbers, which `kvcast describe micron-9550-max` prints.
  node = { sockets = 1, cpu = "epyc-9654", dram = "ddr5-4800-genoa", nic = "connectx-7-400g", flash = "micron-9550-max" },
  workload = { keys = 1e6, key = 16, value = 1000, get = 0.95, set = 0.05, per_frame = 1, dist = { zipf = 0.99 },
               arrival = { poisson_mops = 1 } },
  run = { duration = "50ms" },
}
