-- A network port of 1 Gbit/s in BlueCache's servers. Fact ids are of Xu et al., BlueCache, PVLDB 10(4), 2016.
-- The paper does not name its controller; Intel's boards for the processors of its servers have the 82576.
local protocol = "memcached's protocol.txt: "
return {
  kind = "nic",
  name = "Intel 82576, one port of 1 Gbit/s",
  ports = { 1, source = "bluecache.fatcache.eth: one adapter of 1 Gbit/s" },
  port_rate = { "1Gbps", source = "bluecache.fatcache.eth" },
  mtu = { 1500, source = "IEEE 802.3: largest payload of a basic frame" },
  frame_overhead = { 38, source = "IEEE 802.3: preamble and SFD 8, header 14, FCS 4, gap 12 bytes" },
  packet_header = { 52, source = "RFC 791, RFC 793 and RFC 7323: IPv4 20, TCP 20, timestamps 12 bytes" },
  request_header = { 6, source = protocol .. "get and a blank 4, line end 2 bytes" },
  response_header = { 22, source = protocol .. "VALUE and a blank 6, flags of one digit and length of four with blanks 7, line end 2, behind the value 2, END 5 bytes" },
  ring = { 256, source = "Linux igb: IGB_DEFAULT_RXD, receive descriptors of a ring" },
  latency = { "0us", source = "not published; interrupts that the controller holds back are not modelled" },
  packet_rate = { 1.488e6, source = "IEEE 802.3: line rate, frames of 64 bytes" },
  queues = { 16, source = "Intel 82576 datasheet: 16 receive queues" },
  rss_entries = { 128, source = "Intel 82576 datasheet: RSS redirection table" },
}
