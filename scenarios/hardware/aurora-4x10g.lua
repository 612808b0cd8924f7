-- Links between the cards of BlueDBM, which BlueCache uses. Fact ids are of Xu et al., BlueCache, PVLDB 10(4), 2016.
return {
  kind = "fabric",
  name = "four links of 10 Gbit/s, Aurora 64B/66B",
  links = { 4, source = "bluecache.net.links_impl (sec. 3 says 8)" },
  link_rate = { "0.8209GB/s", source = "bluecache.net.link_speed, 64 of 66 bits; the authors' program (router): 128 bits of data in a packet of 189 bits" },
  hop = { "0.5us", source = "bluecache.net.hop_lat" },
  messages = { 3, source = "bluecache.net.handshake_lat: reserve, acknowledge, payload" },
  topology = { "line", source = "bluecache.multi.nodes: linear array" },
}
