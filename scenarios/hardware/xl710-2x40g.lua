-- The NIC ports of one socket of Mega-KV's servers. Fact ids are of Zhang et al., VLDB J. 26(5), 2017.
local assumed = "assumed, not published: opcode, key length, value length and request id, 2 bytes each"
return {
  kind = "nic",
  name = "Intel XL710, two ports of 40 Gbit/s",
  ports = { 2, source = "megakv.hw.nic.ports_per_socket: sec. 8.1" },
  port_rate = { "40Gbps", source = "megakv.hw.nic.port: sec. 8.1" },
  mtu = { 1500, source = "IEEE 802.3: largest payload of a basic frame" },
  frame_overhead = { 38, source = "IEEE 802.3: preamble and SFD 8, header 14, FCS 4, gap 12 bytes" },
  packet_header = { 28, source = "RFC 791 and RFC 768: IPv4 20, UDP 8 bytes" },
  request_header = { 8, source = assumed },
  response_header = { 8, source = assumed },
  ring = { 512, source = "DPDK's usual receive ring for the XL710 (i40e)" },
  latency = { "0us", source = "not published; clients are connected directly, taken as none" },
  packet_rate = { 37e6, source = "Intel Ethernet Controller X710/XXV710/XL710 Specification Update, Throughput Limit: about 37 Mpps for the entire device below 160 bytes" },
  queues = { 64, source = "Intel Ethernet Controller X710/XXV710/XL710 datasheet: an entry of the RSS table selects one of 64 queues" },
  rss_entries = { 512, source = "Intel Ethernet Controller X710/XXV710/XL710 datasheet: RSS table of a physical function" },
  idle_power = { "0W", source = "not published" },
  busy_power = { "7W", source = "Intel ARK, Ethernet Controller XL710-BM2: TDP" },
}
