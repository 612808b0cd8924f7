-- memcached 1.6.18 of Debian 12 on a virtual machine with two cores of an AMD EPYC, Linux 6.18: the clients poll on one core, the
-- threads of the server share the other one.
return {
  name = "memcached-two-cores",
  system = { kind = "memcached", threads = 1, loopback = true, outstanding = 64 },
  node = { machine = "machine.lua", sockets = 1 },
  cluster = { nodes = 1 },
  workload = { keys = 20e3, key = 16, value = 100, get = 0.9, set = 0.1, flows = 1, connections = 64, arrival = "saturate" },
  run = { functional = "full", duration = "1s" },
}
