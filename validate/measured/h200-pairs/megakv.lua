-- Mega-KV on another machine with 16 cores and an H200: requests from memory, the index on the GPU, items that fill the slabs.
return {
  name = "megakv-h200-pairs",
  system = { kind = "megakv", feed = "memory", streams = 7, cycle = "160us", index = "256MiB",
             slab = "518MB" },
  node = { machine = "machine.lua", sockets = 1 },
  cluster = { nodes = 1 },
  -- The measured pipeline is fed with whole frames, each of which counts from the time at which it leaves.
  workload = { keys = 16e6, key = 8, value = 8, get = 1, set = 0, fill = "at_once", arrival = "saturate" },
  run = { functional = "full", duration = "400ms" },
}
