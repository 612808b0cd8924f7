-- The network port of KV-Direct's card. Fact ids are of Li et al., KV-Direct, SOSP 2017.
local assumed = "assumed, not published: opcode and the two flags that copy sizes or value of the operation before (sec. 4) in one byte"
return {
  kind = "nic",
  name = "programmable NIC, one port of 40 Gbit/s",
  ports = { 1, source = "kvdirect.hw.net.speed: sec. 2.4, 5" },
  port_rate = { "40Gbps", source = "kvdirect.hw.net.speed: sec. 2.4, 5" },
  mtu = { 1500, source = "IEEE 802.3: largest payload of a basic frame" },
  frame_overhead = { 38, source = "IEEE 802.3: preamble and SFD 8, header 14, FCS 4, gap 12 bytes" },
  packet_header = { 50, source = "kvdirect.hw.net.rdma_overhead: 88 bytes around an RDMA write over Ethernet, sec. 4, less the frame's 38" },
  request_header = { 1, source = assumed },
  response_header = { 1, source = assumed },
  ring = { 1, source = "no frames are dropped: RDMA over Ethernet holds its sender back" },
  latency = { "1us", source = "kvdirect.hw.net.lat: network latency of 2 us, sec. 4, taken as there and back" },
  packet_rate = { "unknown", source = "not published; the pipeline decodes an operation a clock, which limits more" },
  queues = { 1, source = "kvdirect.hw.nic: the FPGA is the only receiver" },
  rss_entries = { 1, source = "one queue" },
  idle_power = { "0W", source = "the power of the card is that of its FPGA" },
  busy_power = { "0W", source = "the power of the card is that of its FPGA" },
}
