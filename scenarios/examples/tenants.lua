-- Two tenants on one store: a web site reads small values and needs them within 2 ms; batch jobs write larger ones.
return {
  name = "tenants",
  system = { kind = "megakv", cycle = "160us" },
  workload = { tenants = {
    { name = "web", mops = 60, keys = 2e6, value = 64, get = 0.95, zipf = 0.99, p99 = "2ms" },
    { name = "batch", mops = 10, keys = 0.5e6, key = 16, value = 512, get = 0.5 },
  } },
  run = { duration = "10ms" },
}
