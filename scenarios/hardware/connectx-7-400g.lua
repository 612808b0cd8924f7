-- Today's network port for a store that receives memcached's GETs, one frame each.
local protocol = "memcached's protocol.txt: "
return {
  kind = "nic",
  name = "NVIDIA ConnectX-7, one port of 400 Gbit/s",
  ports = { 1, source = "NVIDIA, ConnectX-7 user manual: single-port OSFP, 400GbE" },
  port_rate = { "400Gbps", source = "IEEE 802.3ck, 400GBASE-CR4" },
  mtu = { 1500, source = "IEEE 802.3: largest payload of a basic frame" },
  frame_overhead = { 38, source = "IEEE 802.3: preamble and SFD 8, header 14, FCS 4, gap 12 bytes" },
  packet_header = { 28, source = "RFC 791 and RFC 768: IPv4 20, UDP 8 bytes" },
  request_header = { 14, source = protocol .. "UDP frame header 8, get and a blank 4, line end 2 bytes: a GET takes its key and 80 bytes on the wire, as memcachedgpu.wl.min_packet" },
  response_header = { 27, source = protocol .. "UDP frame header 8, VALUE and a blank 6, flags and length of one digit each with blanks 4, line end 2, behind the value 2, END 5 bytes" },
  ring = { 8192, source = "Linux mlx5: most descriptors of a receive ring" },
  latency = { "0us", source = "not published apart from that of the wire" },
  packet_rate = { 330e6, source = "assumed: the lower end of the message rate that NVIDIA states for ConnectX-7, 330 to 370 M/s" },
  queues = { 128, source = "assumed: more than any store here uses" },
  rss_entries = { 128, source = "Linux mlx5: default RSS table" },
}
