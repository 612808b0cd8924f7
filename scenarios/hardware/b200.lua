-- Random sectors follow from channels and l2 (kvc_gpu_sectors_per_s); no price and no idle power are published. The clock is
-- from memory, not looked up: nvidia-smi of a B200.
local chips = "chipsandcheese.com, Nvidia's B200: Keeping the CUDA Juggernaut Rolling, 2025: "
local sheet = "from memory, not looked up: NVIDIA, DGX B200 data sheet, 2024: "
local capability = "CUDA C++ Programming Guide, compute capability 10.0"
return {
  kind = "gpu",
  name = "NVIDIA B200",
  sms = { 148, source = chips .. "74 multiprocessors on each of two dies" },
  shared = { "228KiB", source = capability },
  memory = { "180GB", source = sheet .. "1440 GB in eight cards" },
  channels = { 256, source = sheet .. "HBM3e, 8 TB/s, eight stacks; JEDEC JESD238: 32 pseudo channels of a stack" },
  l2 = { "126MiB", source = chips .. "126 MB" },
  access = { "589ns", source = "derived: as the H200; 4 % more than the H100's" },
  launch = { "9.3us", source = "derived: as the H200; 2 % less than the H100's" },
  clocks = {
    { core = "1965MHz", memory = "3906MHz", busy = "1000W", source = "core: from memory, not looked up; memory: 8 TB/s on 8192 bits at twice the clock; busy: NVIDIA, DGX B200 data sheet, 2024: thermal design power, an upper bound" },
  },
}
