-- An H100 with 80 GB of HBM3 (SXM): validate/measured/h100. No price is published. predicts_an_h100_from_an_h200 in
-- hardware_test.c derives its values from the H200's.
local measured = "measured on one H100, 2026-11-26: "
return {
  kind = "gpu",
  name = "NVIDIA H100 SXM 80GB",
  sms = { 132, source = measured .. "cuDeviceGetAttribute" },
  shared = { "228KiB", source = "CUDA C++ Programming Guide, compute capability 9.0" },
  memory = { "81559MiB", source = measured .. "nvidia-smi" },
  sectors = { 32.1e9, source = measured .. "random 32-byte sectors, 32.1 to 32.2 G/s" },
  channels = { 160, source = "NVIDIA, H100 Tensor Core GPU Architecture, 2022: five stacks of HBM3; JEDEC JESD238: 32 pseudo channels of a stack" },
  l2 = { "50MiB", source = measured .. "cudaGetDeviceProperties" },
  l2_sectors = { 135e9, source = "measured on one H100, 2026-11-27: random 32-byte sectors of 4 to 24 MiB, 134.5 to 135.7 G/s" },
  hot_read = { "1.3ns", source = "measured on one H100, 2026-11-27: 2^24 searches for keys of Zipf 1.2 in 2 GiB take 1337 us; 1.01 M warps have the hottest key" },
  hot_write = { "4.9ns", source = "measured on one H100, 2026-11-27: 2^24 inserts of keys of Zipf 1.2 in 2 GiB take 4923 us; 1.01 M warps have the hottest key" },
  access = { "567ns", source = measured .. "a chain of dependent accesses of 32 threads to random sectors of 2 GiB; 291 ns of one thread" },
  launch = { "9.48us", source = measured .. "launch and synchronisation, 9.1 to 12.1 us" },
  clocks = {
    { core = "1980MHz", memory = "2619MHz", idle = "118W", busy = "333W", source = measured .. "largest clocks, nvidia-smi; idle: with a context and no work; busy: median under index kernels" },
  },
}
