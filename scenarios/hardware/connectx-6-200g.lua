-- A network port of 2018 and later. Its power and price are not published in its data sheet.
local protocol = "memcached's protocol.txt: "
return {
  kind = "nic",
  name = "NVIDIA ConnectX-6, one port of 200 Gbit/s",
  ports = { 1, source = "NVIDIA, ConnectX-6 InfiniBand/Ethernet adapter cards user manual, MCX653105A-HDAT" },
  port_rate = { "200Gbps", source = "IEEE 802.3cd, 200GBASE-CR4" },
  packet_rate = { 215e6, source = "NVIDIA, ConnectX-6 EN adapter cards user manual (docs.nvidia.com/networking/display/ConnectX6EN): up to 215 million messages a second" },
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
