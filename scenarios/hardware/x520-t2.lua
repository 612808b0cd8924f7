-- The two network ports of MemcachedGPU's server. Fact ids refer to Hetherington et al., SoCC 2015.
-- The ports' idle power is part of the server's power at the wall: core-i7-4770k.lua.
local protocol = "memcached's protocol.txt: "
return {
  kind = "nic",
  name = "Intel X520-T2, two ports of 10 Gbit/s",
  ports = { 2, source = "memcachedgpu.wl.cables; Intel ARK, Ethernet Converged Network Adapter X520-T2" },
  port_rate = { "10Gbps", source = "memcachedgpu.t1.server.nic" },
  mtu = { 1500, source = "IEEE 802.3: largest payload of a basic frame" },
  frame_overhead = { 38, source = "IEEE 802.3: preamble and SFD 8, header 14, FCS 4, gap 12 bytes" },
  packet_header = { 28, source = "RFC 791 and RFC 768: IPv4 20, UDP 8 bytes" },
  request_header = { 14, source = protocol .. "UDP frame header 8, get and a blank 4, line end 2 bytes: a GET takes its key and 80 bytes on the wire, as memcachedgpu.wl.min_packet" },
  response_header = { 27, source = protocol .. "UDP frame header 8, VALUE and a blank 6, flags and length of one digit each with blanks 4, line end 2, behind the value 2, END 5 bytes" },
  ring = { 4096, source = "Linux ixgbe: most descriptors of a receive ring; what the paper's driver used is not published" },
  latency = { "0us", source = "not published; the delay of the PHYs is in direct-cable-10g.lua" },
  packet_rate = { 29.76e6, source = "Intel 82599 datasheet: line rate of both ports, 14.88 M frames of 64 bytes a second each" },
  queues = { 16, source = "Intel 82599 datasheet: an entry of the RSS table selects one of 16 queues" },
  rss_entries = { 128, source = "Intel 82599 datasheet: RSS table" },
  idle_power = { "0W", source = "part of memcachedgpu.power.system_idle" },
  busy_power = { "0W", source = "not published how it rises with traffic; 10GBASE-T draws most of its power without any" },
}
