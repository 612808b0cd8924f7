-- The packet rate of the controller is not published, so that its line rate is the limit. Its power and price are absent, too.
return {
  kind = "nic",
  base = "connectx-7-400g",
  name = "Intel E810-CQDA1, one port of 100 Gbit/s",
  ports = { 1, source = "Intel ARK, Ethernet Network Adapter E810-CQDA1" },
  port_rate = { "100Gbps", source = "IEEE 802.3bj, 100GBASE-CR4" },
  packet_rate = { "unknown", source = "not published" },
  ring = { 8160, source = "Linux ice: most descriptors of a ring (ICE_MAX_NUM_DESC)" },
  queues = { 256, source = "assumed: more than any store here uses" },
  rss_entries = { 2048, source = "Linux ice: RSS table of a physical function" },
}
