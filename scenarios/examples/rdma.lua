-- A store behind RDMA: clients read an index and then a value from the server's memory without its cores (`sides = "one"`), while
-- PUTs go to a core. `--set system.sides=two` lets cores serve all requests.
return {
  name = "rdma",
  system = { kind = "rdma", sides = "one", reads = 2 },
  workload = { keys = 500e3, key = 8, value = 24, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, arrival = { poisson_mops = 10 } },
  run = { duration = "5ms" },
}
