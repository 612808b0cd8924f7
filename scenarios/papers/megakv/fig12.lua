-- Figure 12: largest input speed of one K40c by scheduling cycle, with and without delayed inserts. Use the closed form
-- (kvcast sweep --predict); the curves are gpu875_speed_max_delayed_mops and gpu875_speed_max_mops.
return {
  name = "megakv-fig12",
  system = { kind = "megakv", index = "2GiB", cycle = "160us" },
  node = { sockets = 1 },
  workload = { preset = "megakv-a", keys = 200e6, get = 0.95, set = 0.05, arrival = "saturate" },
  run = { functional = "off", duration = "10ms" },
  sweep = {
    ["system.cycle"] = {
      "100us", "120us", "140us", "160us", "180us", "200us", "240us", "280us", "320us", "400us", "500us", "600us",
    },
  },
}
