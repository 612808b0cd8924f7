-- The packet rate of the controller is not published, so that its line rate is the limit. Its power and price are absent, too.
local protocol = "memcached's protocol.txt: "
return {
  kind = "nic",
  name = "Intel E810-CQDA1, one port of 100 Gbit/s",
  ports = { 1, source = "Intel ARK, Ethernet Network Adapter E810-CQDA1" },
  port_rate = { "100Gbps", source = "IEEE 802.3bj, 100GBASE-CR4" },
  packet_rate = { "unknown", source = "not published" },
  ring = { 8160, source = "Linux ice: most descriptors of a ring (ICE_MAX_NUM_DESC)" },
  queues = { 256, source = "assumed: more than any store here uses" },
  rss_entries = { 2048, source = "Linux ice: RSS table of a physical function" },
  mtu = { 1500, source = "IEEE 802.3: largest payload of a basic frame" },
  frame_overhead = { 38, source = "IEEE 802.3: preamble and SFD 8, header 14, FCS 4, gap 12 bytes" },
  packet_header = { 28, source = "RFC 791 and RFC 768: IPv4 20, UDP 8 bytes" },
  request_header = { 14, source = protocol .. "UDP frame header 8, get and a blank 4, line end 2 bytes: as connectx-7-400g" },
  response_header = { 27, source = protocol .. "as connectx-7-400g" },
  latency = { "0us", source = "not published apart from that of the wire" },
}
