-- A trace that is replayed with its own arrival times.
return {
  name = "trace",
  system = { kind = "megakv", cycle = "200us", index = "64MiB", slab = "64MiB" },
  node = { sockets = 1 },
  workload = { arrival = { trace = "trace.csv" } },
}
