-- No fits of Mega-KV's kernels: launches follow the random-sector rate.
local measured = "measured on one H200, 2026: "
return {
  kind = "gpu",
  name = "NVIDIA H200",
  sms = { 132, source = measured .. "cuDeviceGetAttribute" },
  shared = { "228KiB", source = "CUDA C++ Programming Guide, compute capability 9.0" },
  memory = { "143771MiB", source = measured .. "nvidia-smi" },
  sectors = { 39.5e9, source = measured .. "random 32-byte sectors over tables of 1 to 8 GB, 39 to 40 G/s" },
  channels = { 192, source = "NVIDIA, H200 data sheet, 2023: HBM3e, 4.8 TB/s, six stacks; JEDEC JESD238: 32 pseudo channels of a stack" },
  l2 = { "60MiB", source = measured .. "cudaGetDeviceProperties" },
  l2_sectors = { 158e9, source = measured .. "random 32-byte sectors of 4 to 20 MiB, 157.9 to 158.2 G/s" },
  hot_read = { "1.2ns", source = measured .. "2^24 searches for keys of Zipf 1.2 in 2 GiB take 1221 us; 1.01 M warps have the hottest key" },
  hot_write = { "4.6ns", source = measured .. "2^24 inserts of keys of Zipf 1.2 in 2 GiB take 4673 us; 1.01 M warps have the hottest key" },
  access = { "589ns", source = measured .. "a chain of dependent accesses of 32 threads to random sectors of 2 GiB; 357 ns of one thread" },
  launch = { "9.3us", source = measured .. "launch and synchronisation" },
  clocks = {
    { core = "1980MHz", memory = "3201MHz", idle = "118W", busy = "291W", source = measured .. "largest clocks, nvidia-smi; idle: with a context and no work; busy: median under index kernels" },
  },
}
