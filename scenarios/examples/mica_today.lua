-- The store of mica.lua on a machine of today: one EPYC 9654 with DDR5 and a port of 400 Gbit/s in place of two Xeon E5-2680. What the
-- machine changes: `kvcast compare scenarios/examples/mica.lua scenarios/examples/mica_today.lua --set workload.arrival=saturate`.
return {
  name = "mica_today",
  system = { kind = "mica", client_assisted = true },
  node = { sockets = 1, cpu = "epyc-9654", dram = "ddr5-4800-genoa", nic = "connectx-7-400g", network = "asterfusion-cx732q-n" },
  workload = { keys = 1e6, key = 8, value = 8, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, arrival = { poisson_mops = 30 } },
  run = { duration = "10ms" },
}
