-- Today's network port for a store that receives memcached's GETs, one frame each.
return {
  kind = "nic",
  base = "connectx-7-400g",
  name = "NVIDIA ConnectX-5, one port of 100 Gbit/s",
  ports = { 1, source = "NVIDIA, ConnectX-5 Ethernet adapter cards user manual, MCX515A-CCAT" },
  port_rate = { "100Gbps", source = "IEEE 802.3bj, 100GBASE-CR4" },
  packet_rate = { 148.8e6, source = "line rate of frames of 64 bytes at 100 Gbit/s; assumed: the card reaches it" },
  queues = { 64, source = "assumed: more than any store here uses" },
}
