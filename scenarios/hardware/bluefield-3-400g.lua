-- A network port with a ConnectX-7 and cores of its own, which serve nothing here. Power and price are not published.
local protocol = "memcached's protocol.txt: "
return {
  kind = "nic",
  name = "NVIDIA BlueField-3 B3140L, one port of 400 Gbit/s",
  ports = { 1, source = "NVIDIA, BlueField DPU BSP v4.2.2, Supported Platforms: B3140L, single-port QSFP112" },
  port_rate = { "400Gbps", source = "NVIDIA, BlueField DPU BSP v4.2.2, Supported Platforms: B3140L, 400GbE" },
  packet_rate = { 330e6, source = "as connectx-7-400g, the same chip: fastswan.org, Nvidia ConnectX-7 by numbers" },
  ring = { 8192, source = "Linux mlx5: most descriptors of a receive ring" },
  queues = { 256, source = "assumed: more than any store here uses" },
  rss_entries = { 512, source = "DPDK mlx5: largest RSS table" },
  mtu = { 1500, source = "IEEE 802.3: largest payload of a basic frame" },
  frame_overhead = { 38, source = "IEEE 802.3: preamble and SFD 8, header 14, FCS 4, gap 12 bytes" },
  packet_header = { 28, source = "RFC 791 and RFC 768: IPv4 20, UDP 8 bytes" },
  request_header = { 14, source = protocol .. "UDP frame header 8, get and a blank 4, line end 2 bytes: as connectx-7-400g" },
  response_header = { 27, source = protocol .. "as connectx-7-400g" },
  latency = { "0us", source = "not published apart from that of the wire" },
}
