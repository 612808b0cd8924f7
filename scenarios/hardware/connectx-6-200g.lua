-- A network port of 2018 and later. Its power and price are not published in its data sheet.
return {
  kind = "nic",
  base = "connectx-7-400g",
  name = "NVIDIA ConnectX-6, one port of 200 Gbit/s",
  ports = { 1, source = "NVIDIA, ConnectX-6 InfiniBand/Ethernet adapter cards user manual, MCX653105A-HDAT" },
  port_rate = { "200Gbps", source = "IEEE 802.3cd, 200GBASE-CR4" },
  packet_rate = { 215e6, source = "NVIDIA, ConnectX-6 EN adapter cards user manual (docs.nvidia.com/networking/display/ConnectX6EN): up to 215 million messages a second" },
  queues = { 256, source = "assumed: more than any store here uses" },
  rss_entries = { 512, source = "DPDK mlx5: largest RSS table" },
}
