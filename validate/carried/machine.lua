-- The costs of a calibrated machine. kvcast validate --accuracy sets the machine.
return {
  name = "carried-machine",
  system = { kind = "megakv", feed = "memory", index_on = "thread", threads = "shared", index = "16MiB" },
  node = { sockets = 1, machine = "../measured/two-cores/machine.lua" },
  workload = { keys = 100000 },
  run = { functional = "sampled" },
}
