-- Random sectors follow from channels and l2 (kvc_gpu_sectors_per_s); no price and no idle power are published. The rule
-- was not measured with GDDR6.
local sheet = "NVIDIA, L4 Tensor Core GPU data sheet, 2023: "
local topcpu = "topcpu.net, NVIDIA L40 vs NVIDIA L4: "
local capability = "CUDA C++ Programming Guide, compute capability 8.9"
return {
  kind = "gpu",
  name = "NVIDIA L4",
  sms = { 58, source = topcpu .. "7424 cores; " .. capability .. ": 128 to a multiprocessor" },
  threads_per_sm = { 1536, source = capability },
  blocks_per_sm = { 24, source = capability },
  shared = { "100KiB", source = capability },
  memory = { "24GB", source = sheet .. "24 GB of GDDR6" },
  channels = { 12, source = sheet .. "300 GB/s, 192 bits; JEDEC JESD250: 16 bits of a channel" },
  l2 = { "48MiB", source = topcpu .. "48 MB" },
  access = { "589ns", source = "derived: as the H200; 4 % more than the H100's" },
  launch = { "9.3us", source = "derived: as the H200; 2 % less than the H100's" },
  clocks = {
    { core = "2040MHz", memory = "6251MHz", busy = "72W", source = topcpu .. "core: boost clock; memory: 300 GB/s on 192 bits at twice the clock; busy: data sheet, most power, an upper bound" },
  },
}
