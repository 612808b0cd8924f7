-- The network ports of one socket of MICA's server (Lim et al., NSDI 2014): two of its four dual-port cards. Fact ids are
-- of Hetherington et al., SoCC 2015.
local protocol = "MICA, src/proto.h and src/table.h (github.com/efficient/mica): header of a packet 6 bytes, of a request 24"
return {
  kind = "nic",
  name = "two Intel X520, four ports of 10 Gbit/s",
  ports = { 4, source = "memcachedgpu.mica_nic: four dual-port NICs of two sockets" },
  port_rate = { "10Gbps", source = "memcachedgpu.mica_nic" },
  mtu = { 1500, source = "IEEE 802.3: largest payload of a basic frame" },
  frame_overhead = { 38, source = "IEEE 802.3: preamble and SFD 8, header 14, FCS 4, gap 12 bytes" },
  packet_header = { 28, source = "RFC 791 and RFC 768: IPv4 20, UDP 8 bytes" },
  request_header = { 30, source = protocol },
  response_header = { 30, source = protocol },
  ring = { 512, source = "assumed: DPDK's usual receive ring; MICA's is not published" },
  latency = { "0us", source = "not published; the delay of the PHYs is in direct-cable-10g.lua" },
  packet_rate = { 59.52e6, source = "Intel 82599 datasheet: line rate of four ports, 14.88 M frames of 64 bytes a second each" },
  queues = { 16, source = "Intel 82599 datasheet: an entry of the RSS table selects one of 16 queues" },
  rss_entries = { 128, source = "Intel 82599 datasheet: RSS table" },
}
