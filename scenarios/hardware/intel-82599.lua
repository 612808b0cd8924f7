-- The network port of DIDO's machine. Fact ids are of Zhang et al., DIDO, ICDE 2017.
local assumed = "assumed, as for Mega-KV: opcode, key length, value length and request id, 2 bytes each"
return {
  kind = "nic",
  name = "Intel 82599, one port of 10 Gbit/s",
  ports = { 1, source = "dido.hw.nic: one 10 GbE NIC, sec. V.A" },
  port_rate = { "10Gbps", source = "dido.hw.nic: sec. V.A" },
  mtu = { 1500, source = "IEEE 802.3: largest payload of a basic frame" },
  frame_overhead = { 38, source = "IEEE 802.3: preamble and SFD 8, header 14, FCS 4, gap 12 bytes" },
  packet_header = { 28, source = "RFC 791 and RFC 768: IPv4 20, UDP 8 bytes" },
  request_header = { 8, source = assumed },
  response_header = { 8, source = assumed },
  ring = { 4096, source = "Linux ixgbe: most descriptors of a receive ring" },
  latency = { "0us", source = "not published" },
  packet_rate = { 14.88e6, source = "Intel 82599 datasheet: line rate of a port, 14.88 M frames of 64 bytes a second" },
  queues = { 16, source = "Intel 82599 datasheet: an entry of the RSS table selects one of 16 queues" },
  rss_entries = { 128, source = "Intel 82599 datasheet: RSS table" },
}
