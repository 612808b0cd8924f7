-- Random sectors follow from channels and l2 (kvc_gpu_sectors_per_s); no price and no idle power are published. The rule
-- was measured on cards of NVIDIA only.
local sheet = "AMD, Instinct MI300X data sheet, 2023: "
local paper = "AMD, CDNA 3 architecture, 2023: "
return {
  kind = "gpu",
  name = "AMD Instinct MI300X",
  sms = { 304, source = sheet .. "compute units" },
  wave = { 64, source = paper .. "wavefronts of 64" },
  shared = { "64KiB", source = paper .. "local data share" },
  memory = { "192GB", source = sheet .. "192 GB of HBM3" },
  channels = { 256, source = paper .. "128 channels of HBM3; JEDEC JESD238: two pseudo channels each" },
  l2 = { "256MiB", source = sheet .. "Infinity Cache, in front of the memory" },
  access = { "589ns", source = "derived: as the H200; 4 % more than the H100's" },
  launch = { "9.3us", source = "derived: as the H200; 2 % less than the H100's" },
  clocks = {
    { core = "2100MHz", memory = "2588MHz", busy = "750W", source = "core: rocminfo of an MI300X, most clock (github.com/ROCm/legacy-rocm-build/issues/4414); memory: 5.3 TB/s on 8192 bits at twice the clock; busy: board power, an upper bound" },
  },
}
