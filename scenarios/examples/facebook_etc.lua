-- Facebook's ETC pool with 20,000 clients that wait for each answer. Atikoglu et al. (SIGMETRICS 2012) describe the
-- load.
return {
  name = "facebook-etc",
  system = { kind = "megakv", cycle = "200us", api = "get", index = "64MiB" },
  node = { sockets = 1 },
  workload = { preset = "facebook-etc", keys = 2e6, dist = { zipf = 0.99 },
               arrival = { clients = 20000, think = "50us" } },
}
