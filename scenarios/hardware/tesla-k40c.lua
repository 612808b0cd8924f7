-- Mega-KV's GPU. Fact ids are of Zhang et al., VLDB J. 26(5), 2017. The fits T = k*x + b of Table 2 were measured under 95 %
-- GET, 5 % SET and uniform keys, copies over PCIe included.
-- The paper does not publish the power of the board without work. By public logs of nvidia-smi, a Tesla K40m in P0 (3004 MHz)
-- with a context has 62 W, and a Tesla K40c in P8 (324 MHz) has 21 W.
local idle = { [3004] = "62W", [324] = "21W" }

-- The busy watts were measured with index kernels, sec. 8.8.1: megakv.energy.gpu_power.base, abc
-- and d.
local busy = { [875] = "150W", [666] = "135W", [324] = "58W" }

local function fit(core, memory, search_per_op, search_base, insert_per_op, insert_base)
  return {
    core = core .. "MHz", memory = memory .. "MHz",
    search_per_op = search_per_op .. "ns", search_base = search_base .. "us",
    insert_per_op = insert_per_op .. "ns", insert_base = insert_base .. "us",
    idle = idle[memory], busy = busy[core],
    source = ("Table 1 and 2: megakv.sched.kS.%d, bS.%d, kI.%d, bI.%d; busy: %s; idle: nvidia-smi of a K40")
      :format(core, core, core, core,
        busy[core] and "megakv.energy.gpu_power, sec. 8.8.1" or "not published"),
  }
end

return {
  kind = "gpu",
  name = "NVIDIA Tesla K40c",
  sms = { 15, source = "megakv.hw.gpu.k40c.sm: sec. 8.1" },
  memory = { "12GB", source = "megakv.hw.gpu.k40c.mem: sec. 2.2.2, 8.1" },
  sectors = { 0, source = "not published: the fits stand for the card" },
  price = { 2150, source = "megakv.hw.gpu.k40c.price: sec. 8.1, when the authors bought it, 2014 or later" },
  clocks = {
    fit(875, 3004, "5.9", "22.1", "6.2", "144.5"),
    fit(810, 3004, "6.4", "18.0", "6.9", "147.5"),
    fit(745, 3004, "6.9", "23.2", "7.6", "152.3"),
    fit(666, 3004, "7.8", "25.3", "9.2", "154.0"),
    fit(324, 324, "15", "176.9", "36", "282.5"),
  },
}
