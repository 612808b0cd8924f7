-- Values behind CXL and an index in DRAM, for a store with more values than DRAM has room for. Cores read CXL memory with ordinary
-- loads: nothing but `memory = "cxl"` says where the values are, without a driver, pages or a write buffer as on a drive.
--
-- What that costs is time of cores, which wait 250 ns for a line. At 8 million requests a second they are busy for 45 % of the time,
-- and the 99th percentile is 1.8 us; with --set system.values.memory=host it is 29 % and 0.95 us. `kvcast run --set
-- workload.arrival=saturate` serves 22 million requests instead of 33: the same load needs half as many cores
-- again. The links are the limit only if the last-level cache holds few of the values: with --set
-- workload.dist=uniform as well, the 17.8 GB/s of one expander serve 16.6 million, and those of three (--set
-- node.cxl.bandwidth=53.4GB/s) 20 million, where DRAM serves 30.
return {
  name = "composed_cxl_values",
  system = {
    kind = "composed", pipelines = 8, outstanding = 4096,
    index = { kernel = "memc3" },
    values = { kernel = "slab", memory = "cxl" },
    stages = {
      { name = "receive", on = "nic.rx" },
      -- The cycles are what MICA's code takes for a request (scenarios/composed/mica.lua).
      { name = "serve", on = "cpu", cycles = 283, burst = 8, overlap = 4, does = { "parse", "write", "search", "insert", "read" } },
      { name = "send", on = "nic.tx" },
    },
  },
  node = { sockets = 1, cpu = "epyc-9654", dram = "ddr5-4800-genoa", nic = "connectx-7-400g", cxl = "cxl-e3s-x8" },
  workload = { keys = 4e6, key = 16, value = 1000, get = 0.95, set = 0.05, per_frame = 1, dist = { zipf = 0.99 },
               arrival = { poisson_mops = 8 } },
  run = { duration = "10ms" },
}
