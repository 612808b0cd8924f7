-- Mega-KV on a virtual machine with two cores of an AMD EPYC: requests from memory, the index on the scheduler's thread, items that
-- fill the slabs.
return {
  name = "megakv-two-cores-epyc",
  system = { kind = "megakv", feed = "memory", index_on = "thread", threads = "shared", streams = 1,
             cycle = "300us", index = "256MiB", slab = "518MB" },
  node = { machine = "machine.lua", sockets = 1 },
  cluster = { nodes = 1 },
  -- The measured pipeline is fed with whole frames, each of which counts from the time at which it leaves.
  workload = { keys = 16e6, key = 8, value = 8, get = 1, set = 0, fill = "at_once", arrival = "saturate" },
  run = { functional = "full", duration = "700ms" },
}
