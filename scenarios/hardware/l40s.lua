-- Random sectors follow from channels and l2 (kvc_gpu_sectors_per_s); no price and no idle power are published. The rule
-- was not measured with GDDR6.
local sheet = "NVIDIA, L40S data sheet, 2023: "
local paper = "NVIDIA, Ada GPU Architecture, 2022: "
local capability = "CUDA C++ Programming Guide, compute capability 8.9"
return {
  kind = "gpu",
  name = "NVIDIA L40S",
  sms = { 142, source = sheet .. "18176 cores; " .. capability .. ": 128 to a multiprocessor" },
  threads_per_sm = { 1536, source = capability },
  blocks_per_sm = { 24, source = capability },
  shared = { "100KiB", source = capability },
  memory = { "48GB", source = sheet .. "48 GB of GDDR6" },
  channels = { 24, source = sheet .. "864 GB/s, 384 bits; JEDEC JESD250: 16 bits of a channel" },
  l2 = { "96MiB", source = paper .. "96 MB of the AD102" },
  access = { "589ns", source = "derived: as the H200; 4 % more than the H100's" },
  launch = { "9.3us", source = "derived: as the H200; 2 % less than the H100's" },
  clocks = {
    { core = "2520MHz", memory = "9001MHz", busy = "350W", source = "core: itcreations.com, NVIDIA L40S, boost clock; memory: 864 GB/s on 384 bits at twice the clock; busy: data sheet, most power, an upper bound" },
  },
}
