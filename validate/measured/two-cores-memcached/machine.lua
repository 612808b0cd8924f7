-- Written by kvcast calibrate. Use: node = { machine = "this file" }.
return {
  kind = "machine",
  name = "2 cores of AMD EPYC",
  date = "2026-11-27",
  compiler = "gcc 12.2.0",
  commit = "0.1.0+236da8fc50d5",
  cpu = {
    name = "AMD EPYC",
    cores = { 2, source = "measured 2026-11-27: processors that the process may use, hyper-threads counted once" },
    threads_per_core = { 1, source = "measured 2026-11-27: hardware threads of the first core" },
    clock = { "2.596GHz", source = "measured 2026-11-27: as the system reports it" },
    core_speed = { 1.816, source = "measured 2026-11-27: steps of arithmetic per ns while all cores work, 90th percentile of 70 windows" },
    packet = { "4.568ns", low = "-12.04ns", high = "21.18ns", source = "measured 2026-11-27: slope of a received frame's time over its GETs: -12 .. 21.2 (95 %), 4 points, worst 62.1 % off; NOT a straight line" },
    llc_hit_cycles = { 43.33, source = "measured 2026-11-27: dependent lines of 4096 KiB, the first size beyond the core's own caches" },
  },
  dram = {
    name = "main memory of this machine",
    watched_line = { "53.42ns", source = "measured 2026-11-27: random lines of 512 MiB that do not depend on each other, while all cores read; median of 70 readings; dependent ones took 342.5 ns, in order 23.85 GB/s" },
    random_line = { "22.1ns", low = "-2.142ns", high = "46.34ns", source = "measured 2026-11-27: base of a GET's time over its item's bytes: -2.14 .. 46.3 (95 %), 7 points, worst 76.9 % off; NOT a straight line" },
    next_line = { "5.68ns", low = "-0.9443ns", high = "12.3ns", source = "measured 2026-11-27: 64 times the slope of the same line: -0.944 .. 12.3 (95 %), 7 points, worst 76.9 % off; NOT a straight line" },
    line = { "64B", source = "measured 2026-11-27: cache line of x86-64" },
    bandwidth = { "51.49GB/s", source = "measured 2026-11-27: what one core reads in order, times the cores; not measured together" },
  },
  gpu = {
    name = "one CPU thread instead of a GPU",
    sms = { 1, source = "measured 2026-11-27: one thread" },
    memory = { "2.528e+04MB", source = "measured 2026-11-27: main memory" },
    clocks = { {
    core = { "2.596GHz", source = "measured 2026-11-27: as the system reports it" },
    memory = { "2.596GHz", source = "measured 2026-11-27: a placeholder: the memory clock is not known" },
    search_per_op = { "25.64ns", low = "12.44ns", high = "38.85ns", source = "measured 2026-11-27: launches of searches that hit, all pipelines: 12.4 .. 38.8 (95 %), 6 points, worst 22.2 % off; NOT a straight line" },
    search_base = { "1848ns", low = "-1644ns", high = "5341ns", source = "measured 2026-11-27: launches of searches that hit, all pipelines: -1.64e+03 .. 5.34e+03 (95 %), 6 points, worst 22.2 % off; NOT a straight line" },
    insert_per_op = { "49.4ns", low = "46.88ns", high = "51.92ns", source = "measured 2026-11-27: launches of inserts of new keys: 46.9 .. 51.9 (95 %), 6 points, worst 3.7 % off" },
    insert_base = { "0ns", low = "-399.1ns", high = "363.6ns", source = "measured 2026-11-27: launches of inserts of new keys: -399 .. 364 (95 %), 6 points, worst 3.7 % off" },
    } },
  },
  memcached_costs = {
    name = "memcached 1.6.18 on Linux 6.18.44-fc-v669, with clients beside it",
    udp_get = { "4138ns", low = "4068ns", high = "4208ns", source = "measured 2026-11-27: from one response to the next, 32 requests in flight" },
    udp_set = { "4357ns", low = "4273ns", high = "4440ns", source = "measured 2026-11-27: from one response to the next, 32 requests in flight" },
    udp_get_byte = { "0.3948ns", low = "0.2954ns", high = "0.4941ns", source = "measured 2026-11-27: values of 16 bytes and larger ones" },
    udp_set_byte = { "0.3591ns", low = "0.2425ns", high = "0.4757ns", source = "measured 2026-11-27: values of 16 bytes and larger ones" },
    udp_key = { "4090ns", low = "4004ns", high = "4177ns", source = "measured 2026-11-27: multigets of 16 keys, and GETs of one" },
    udp_send = { "2836ns", low = "2822ns", high = "2851ns", source = "measured 2026-11-27: sending 32 requests to a stopped server" },
    udp_receive = { "808.2ns", low = "799ns", high = "817.3ns", source = "measured 2026-11-27: 32 responses that wait" },
    udp_send_byte = { "0.09856ns", low = "0.07302ns", high = "0.1241ns", source = "measured 2026-11-27: values of 16 bytes and larger ones" },
    udp_receive_byte = { "0.07291ns", low = "0.05969ns", high = "0.08612ns", source = "measured 2026-11-27: values of 16 bytes and larger ones" },
    udp_look = { "1155ns", low = "1126ns", high = "1184ns", source = "measured 2026-11-27: a response that waits alone, less one of 32" },
    udp_client_key = { "943.2ns", low = "922.4ns", high = "964.1ns", source = "measured 2026-11-27: multigets of 16 keys, and GETs of one" },
    udp_notify = { "6611ns", low = "6509ns", high = "6713ns", source = "measured 2026-11-27: sending a GET to a server that sleeps, and to one that is stopped" },
    udp_wake = { "8835ns", low = "8544ns", high = "9126ns", source = "measured 2026-11-27: latency of a lone GET, less its work" },
    tcp_get = { "6785ns", low = "6673ns", high = "6897ns", source = "measured 2026-11-27: from one response to the next, 32 requests in flight" },
    tcp_set = { "6642ns", low = "6588ns", high = "6697ns", source = "measured 2026-11-27: from one response to the next, 32 requests in flight" },
    tcp_get_byte = { "0.235ns", low = "0.2013ns", high = "0.2687ns", source = "measured 2026-11-27: values of 16 bytes and larger ones" },
    tcp_set_byte = { "0.3859ns", low = "0.3401ns", high = "0.4317ns", source = "measured 2026-11-27: values of 16 bytes and larger ones" },
    tcp_key = { "271.5ns", low = "253ns", high = "290ns", source = "measured 2026-11-27: multigets of 16 keys, and GETs of one" },
    tcp_send = { "4286ns", low = "4264ns", high = "4308ns", source = "measured 2026-11-27: sending 32 requests to a stopped server" },
    tcp_receive = { "1027ns", low = "1018ns", high = "1035ns", source = "measured 2026-11-27: 32 responses that wait" },
    tcp_send_byte = { "0.1378ns", low = "0.1302ns", high = "0.1454ns", source = "measured 2026-11-27: values of 16 bytes and larger ones" },
    tcp_receive_byte = { "0.06643ns", low = "0.06302ns", high = "0.06984ns", source = "measured 2026-11-27: values of 16 bytes and larger ones" },
    tcp_look = { "1450ns", low = "1423ns", high = "1478ns", source = "measured 2026-11-27: a response that waits alone, less one of 32" },
    tcp_client_key = { "114.1ns", low = "109.9ns", high = "118.3ns", source = "measured 2026-11-27: multigets of 16 keys, and GETs of one" },
    tcp_notify = { "6443ns", low = "6325ns", high = "6561ns", source = "measured 2026-11-27: sending a GET to a server that sleeps, and to one that is stopped" },
    tcp_wake = { "6904ns", low = "6657ns", high = "7152ns", source = "measured 2026-11-27: latency of a lone GET, less its work" },
    datagram = { "3412ns", low = "3229ns", high = "3595ns", source = "measured 2026-11-27: GETs of 4016 bytes over UDP" },
    client_datagram = { "837.4ns", low = "800.9ns", high = "873.8ns", source = "measured 2026-11-27: GETs of 4016 bytes over UDP" },
    key_byte = { "1.06ns", low = "0.4744ns", high = "1.645ns", source = "measured 2026-11-27: keys of 16 and 240 bytes over TCP" },
    client_key_byte = { "1.45ns", low = "1.179ns", high = "1.722ns", source = "measured 2026-11-27: keys of 16 and 240 bytes over TCP" },
    doubling = { "28.73ns", low = "9.397ns", high = "48.07ns", source = "measured 2026-11-27: 1000 items of 16 bytes and 100000, over TCP" },
    doubling_byte = { "0.02354ns", low = "0.01574ns", high = "0.03134ns", source = "measured 2026-11-27: 1000 items of 4016 bytes and 25000, over TCP" },
    wait = { "1450ns", low = "1423ns", high = "1478ns", source = "measured 2026-11-27: the client's own epoll_wait, in a step for one response" },
    switch = { "0ns", low = "-283ns", high = "110.2ns", source = "measured 2026-11-27: from the response of one thread to that of another on its core, less a GET and a look" },
  },
}

-- Handoffs from the first core to each of the others, through a ring, ns: 429
-- Speed of each core while all work, relative to the fastest one alone: 1.00 1.00
-- 98.8 % of the repetitions were quiet: other work took at most 1 % of their time. The others do not count.
-- Time per random line, ns, by working set and by the chains followed at once:
--        KiB       1       2       4       8      16      32
--         16    1.39    0.69    0.71    0.42    0.30    0.22
--         64    4.16    2.05    1.45    0.77    0.41    0.33
--        256    4.09    2.05    1.52    0.79    0.50    0.49
--       1024    7.98    4.17    2.71    1.43    0.75    0.58
--       4096   16.69    7.74    4.73    2.32    1.21    0.74
--      16384  133.07   58.52   32.14   16.82    8.78    4.61
--      65536  151.69   77.29   41.82   20.85   10.72    6.68
--     262144  161.49   82.86   42.64   21.77   10.96    9.91
--    1048576  170.70   83.73   45.05   22.46   11.35    8.05
-- The same arithmetic took up to 1.6 % longer at times.
