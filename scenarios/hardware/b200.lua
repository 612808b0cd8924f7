-- Random sectors follow from channels and l2 (kvc_gpu_sectors_per_s); no price and no idle power are published.
local chips = "chipsandcheese.com, Nvidia's B200: Keeping the CUDA Juggernaut Rolling, 2025: "
local dgx = "cuTile Rust (NVIDIA), artifacts of its paper, machine specification, B200 of a DGX: "
local ao = "github.com/pytorch/ao/pull/4002, device query of a B200: "
local capability = "CUDA C++ Programming Guide, compute capability 10.0"
return {
  kind = "gpu",
  name = "NVIDIA B200",
  sms = { 148, source = chips .. "74 multiprocessors on each of two dies" },
  shared = { "228KiB", source = capability },
  memory = { "180GB", source = "MLPerf Inference v6.0, Nebius, system description: NVIDIA B200-SXM-180GB" },
  channels = { 240, source = ao .. "bus of 7680 bits; JEDEC JESD238: 32 bits of a pseudo channel" },
  l2 = { "126MiB", source = chips .. "126 MB" },
  access = { "589ns", source = "derived: as the H200; 4 % more than the H100's" },
  launch = { "9.3us", source = "derived: as the H200; 2 % less than the H100's" },
  clocks = {
    { core = "1965MHz", memory = "3996MHz", busy = "1000W", source = dgx .. "core: most clock of the multiprocessors; memory: its clock, at twice of which 7680 bits carry 7.7 TB/s; busy: power limit, an upper bound" },
  },
}
