-- Facebook's ETC pool (Atikoglu et al., SIGMETRICS 2012) with 20,000 clients that wait for each answer.
return {
  name = "facebook-etc",
  system = { kind = "megakv", cycle = "200us", api = "get", index = "64MiB" },
  node = { sockets = 1 },
  workload = { preset = "facebook-etc", keys = 2e6, dist = { zipf = 0.99 },
               arrival = { clients = 20000, think = "50us" } },
}
