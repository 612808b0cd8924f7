-- Section 6.1: time of an access to host memory that a core of the host performs. A batch of 256 accesses is complete
-- after 10 us (kvdirect.sg.batch, sg.batch_time), so they come at 25.6 Mops, which one core serves. Single requests over
-- a network without latency leave the access itself.
return {
  name = "kvdirect-fig18-latency",
  system = { kind = "kvdirect", memory = "64MiB", index = 1, inline = 15, dispatch = 0, in_flight = 8192, station = 65536,
             gather_cores = 1 },
  node = { pcie = { base = "catapult-pcie3-x8", endpoints = 1 }, nic = { base = "catapult-40g", latency = "0us" } },
  workload = { keys = 2e6, key = 8, value = 2, get = 1, set = 0, per_frame = 1, fill = "at_once",
               arrival = { poisson_mops = 25.6 } },
  run = { warmup = "auto", duration = "2ms" },
}
