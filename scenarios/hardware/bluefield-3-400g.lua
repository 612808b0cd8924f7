-- A network port with a ConnectX-7 and cores of its own, which serve nothing here. Power and price are not published.
return {
  kind = "nic",
  base = "connectx-7-400g",
  name = "NVIDIA BlueField-3 B3140L, one port of 400 Gbit/s",
  ports = { 1, source = "NVIDIA, BlueField DPU BSP v4.2.2, Supported Platforms: B3140L, single-port QSFP112" },
  port_rate = { "400Gbps", source = "NVIDIA, BlueField DPU BSP v4.2.2, Supported Platforms: B3140L, 400GbE" },
  packet_rate = { 330e6, source = "as connectx-7-400g, the same chip: fastswan.org, Nvidia ConnectX-7 by numbers" },
  queues = { 256, source = "assumed: more than any store here uses" },
  rss_entries = { 512, source = "DPDK mlx5: largest RSS table" },
}
