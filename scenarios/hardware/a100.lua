-- Random sectors follow from channels and l2 (kvc_gpu_sectors_per_s); no price and no idle power are published.
local sheet = "NVIDIA, A100 80GB data sheet, 2021: "
local paper = "NVIDIA, A100 Tensor Core GPU Architecture, 2020, and deviceQuery (upb-pc2.atlassian.net): "
local capability = "CUDA C++ Programming Guide, compute capability 8.0"
return {
  kind = "gpu",
  name = "NVIDIA A100 SXM4 80GB",
  sms = { 108, source = paper .. "108 multiprocessors" },
  shared = { "164KiB", source = capability },
  memory = { "80GB", source = sheet .. "80 GB of HBM2e" },
  channels = { 80, source = paper .. "5120 bits; JEDEC JESD235: 64 bits of a pseudo channel" },
  l2 = { "40MiB", source = paper .. "40 MB" },
  access = { "589ns", source = "derived: as the H200; 4 % more than the H100's" },
  launch = { "9.3us", source = "derived: as the H200; 2 % less than the H100's" },
  clocks = {
    { core = "1410MHz", memory = "1593MHz", busy = "400W", source = "core: NVIDIA, A100 Tensor Core GPU Architecture, 2020; memory: 2039 GB/s on 5120 bits at twice the clock; busy: thermal design power, an upper bound" },
  },
}
