-- Links of today between FPGA cards, with the protocol of BlueCache. Fact ids are of Xu et al., BlueCache, PVLDB 10(4), 2016.
return {
  kind = "fabric",
  name = "four links of 100 Gbit/s, Aurora 64B/66B",
  links = { 4, source = "AMD, Alveo V80 product brief, 2024: 4 QSFP56 ports; bluecache.net.links_impl has as many" },
  link_rate = { "8.466GB/s", source = "IEEE 802.3bj: 4 lanes of 25.78125 Gbit/s, 64 of 66 bits; the authors' program (router): 128 bits of data in a packet of 189 bits" },
  hop = { "0.5us", source = "bluecache.net.hop_lat; that of links of 100 Gbit/s is not published for this protocol" },
  messages = { 3, source = "bluecache.net.handshake_lat: reserve, acknowledge, payload" },
  topology = { "line", source = "bluecache.multi.nodes: linear array" },
}
