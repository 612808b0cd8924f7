#include "models/memcached/options.h"

#include <stddef.h>

static const char *const networks[] = {"kernel", "pf_ring", "tcp", NULL};
static const char *const feeds[] = {"network", "memory", NULL};
static const char *const locks[] = {"item", "global", NULL};

#define COUNT_ROW(name_, field, low, high, standard, text)                                                   \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_COUNT, .offset = offsetof(struct kvc_memcached_options, field),    \
        .min = low, .max = high, .by_default = standard, .help = text                                        \
    }
#define REAL_ROW(name_, field, unit_, low, high, standard, text)                                             \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_REAL, .offset = offsetof(struct kvc_memcached_options, field),     \
        .unit = unit_, .min = low, .max = high, .by_default = standard, .help = text                         \
    }
#define CYCLES_ROW(name_, field, standard, text) REAL_ROW(name_, field, KVC_UNIT_NONE, 0, 1e9, standard, text)

#define BYPASS_ROWS                                                                                           \
    CYCLES_ROW(                                                                                               \
        "bypass_receive", bypass_receive_cycles, "60.5",                                                      \
        "core cycles of receiving a packet in a ring that the thread polls (Rizzo, netmap, ATC 2012: a core " \
        "at 900 MHz receives 14.88 M packets a second with an 82599)"),                                       \
        CYCLES_ROW("bypass_send", bypass_send_cycles, "60.5",                                                 \
                   "core cycles of sending a packet from such a ring (netmap: likewise)")
#define OUTSTANDING_ROW(standard)                                                                            \
    COUNT_ROW(                                                                                               \
        "outstanding", outstanding, 1, 1e6, standard,                                                        \
        "requests that saturating clients keep in flight to a socket; more requests hide more latency")
#define ENTRIES_ROW(standard, source)                                                                        \
    COUNT_ROW("entries", entries, 16, 0x1p31, standard,                                                      \
              "items that a socket's table has room for; more entries evict less (" source ")")
#define KEY_ROOM_ROW                                                                                         \
    COUNT_ROW("key_room", key_room, 1, 250, "250", "longest key that the table holds [bytes]")

/* Instructions per clock, from one core to the next: what the same code takes on an older one. Redwood Cove
 * counts as Golden Cove. */
#define HASWELL                                                                                                       \
    "1.484 times as many on a Haswell: IPC of Skylake 1.057 times Haswell's (AnandTech, review of the i7-6700K), of " \
    "Sunny Cove 1.18 times Skylake's (Intel, Architecture Day 2018), of Golden Cove 1.19 times that (2021)"
#define SANDY_BRIDGE                                                                                                 \
    "1.729 times as many on a Sandy Bridge: 1.484 on a Haswell, whose IPC is 1.112 times Ivy Bridge's, and that is " \
    "1.048 times Sandy Bridge's (AnandTech, review of the i7-4770K and i7-6700K)"

/* What holds for connections. */
#define TCP_ROWS                                                                                                 \
    {.name = "loopback",                                                                                         \
     .type = KVC_OPTION_BOOL,                                                                                    \
     .offset = offsetof(struct kvc_memcached_options, loopback),                                                 \
     .by_default = "false",                                                                                      \
     .help =                                                                                                     \
         "clients run on the node itself: requests do not cross the NIC, and a client's system call takes them " \
         "into the socket of the server, as the server's does with responses; needs connections over TCP"},      \
        REAL_ROW(                                                                                                \
            "tcp", tcp_ratio, KVC_UNIT_NONE, 0, 100, "1.11",                                                     \
            "kernel's work for a request over TCP, relative to that over UDP (measured: system time of "         \
            "memcached 1.6.18 for a GET of 1 KB from 48 clients on the same core, 4.73 and 4.26 us, medians "    \
            "of three; Linux "                                                                                   \
            "6.18 on a virtual machine with an AMD EPYC at 4.2 GHz, whose kernel is slower than those of "       \
            "the costs here, so that only the ratio is used)"),                                                  \
        CYCLES_ROW(                                                                                              \
            "wake", wake_cycles, "4211",                                                                         \
            "core cycles until a thread that sleeps runs, with TCP: one of the server without work, and "        \
            "every client (Arrakis, table 1: 2.40 us of the scheduler with an idle core, less the 0.17 "         \
            "us of schedule" NEWER ")")
#define CYCLES_RATIO_ROW                                                                                      \
    REAL_ROW(                                                                                                 \
        "cycles_ratio", cycles_ratio, KVC_UNIT_NONE, 0.01, 100, "1",                                          \
        "core cycles of the node's CPU for the same code, relative to the Haswell for which all cycles here " \
        "hold: 1.165 on a Sandy Bridge (AnandTech, as for compute); 1.282 on a Nehalem or Westmere, than "    \
        "which a Sandy Bridge is 10 % faster at the same clock (AnandTech, The Sandy Bridge Preview, 2010)")

/* Cycles of the kernel: Peter et al., Arrakis, OSDI 2014, table 1, an echo over UDP with Linux 3.8 on a Xeon
 * E5-2430 of 2.2 GHz with an X520. They were measured on a Sandy Bridge. */
#define NEWER " at 2.2 GHz on a Sandy Bridge, 1.165 times the cycles of a Haswell"
#define COST_ROWS                                                                                                    \
    CYCLES_ROW(                                                                                                      \
        "compute", compute_cycles, "2842",                                                                           \
        "core cycles of a request in memcached's own code, memory stalls excluded: parsing, hashing, the event "     \
        "loop (measured: user time of a GET over UDP of 512 keys, 540 ns, memcached 1.6.18 with one thread on "      \
        "a Xeon with Redwood Cove at 3.55 GHz, 1915 cycles; " HASWELL ")"),                                          \
        CYCLES_ROW(                                                                                                  \
            "stack_receive", stack_receive_cycles, "2379",                                                           \
            "core cycles of the kernel's stack for a packet that arrives (Arrakis, table 1: 1.26 us" NEWER           \
            ")"),                                                                                                    \
        CYCLES_ROW(                                                                                                  \
            "stack_send", stack_send_cycles, "1983",                                                                 \
            "core cycles of the kernel's stack for a packet that leaves (Arrakis, table 1: 1.05 us" NEWER            \
            ")"),                                                                                                    \
        CYCLES_ROW(                                                                                                  \
            "copy", copy_cycles, "1284",                                                                             \
            "core cycles of the copies between kernel and thread (Arrakis, table 1: 0.24 + 0.44 us" NEWER            \
            ")"),                                                                                                    \
        CYCLES_ROW(                                                                                                  \
            "schedule", schedule_cycles, "321",                                                                      \
            "core cycles of the scheduler for a request, with a running thread (Arrakis, table 1: 0.17 us" NEWER     \
            ")"),                                                                                                    \
        CYCLES_ROW(                                                                                                  \
            "crossing", crossing_cycles, "378",                                                                      \
            "core cycles of entering and leaving the kernel once (Arrakis, table 1: 0.10 us each" NEWER              \
            ")"),                                                                                                    \
        COUNT_ROW(                                                                                                   \
            "system_calls", system_calls, 0, 100, "2",                                                               \
            "system calls of a request besides epoll_wait, each of which crosses to the kernel once: recvfrom and "  \
            "sendmsg (counted: memcached 1.6.18 under load)"),                                                       \
        CYCLES_ROW(                                                                                                  \
            "epoll", epoll_cycles, "2370",                                                                           \
            "core cycles of the call of epoll_wait before each request, crossings included (measured: an echo over " \
            "UDP with it takes 450 ns longer on a Xeon with Redwood Cove at 3.55 GHz, 1597 cycles; " HASWELL         \
            ")")

static const struct kvc_option memcached_rows[] = {
    COUNT_ROW("threads", threads, 1, 1024, "4", "threads that serve requests, each on a core of its own"),
    {.name = "network",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_memcached_options, network),
     .by_default = "kernel",
     .choices = networks,
     .help =
         "kernel: the sockets of Linux, one for all threads; pf_ring: threads poll the NIC for GETs, and only "
         "SETs and DELETEs, which come over TCP, take the kernel; tcp: all requests come over TCP, and each "
         "connection belongs to one thread: clients of a closed loop have one each, and threads get them in turn"},
    {.name = "lock",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_memcached_options, lock),
     .by_default = "item",
     .choices = locks,
     .help =
         "what a GET holds while it searches: item is a lock of a few items, as in memcached since 1.4.10; global "
         "is the lock of the whole cache, as before that; SETs and DELETEs hold the global one"},
    ENTRIES_ROW("8.3e6", "memcachedgpu.ht.server.entries: sec. 5.1"),
    REAL_ROW(
        "bump", bump_ns, KVC_UNIT_NS, 1e6, 1e15, "60s",
        "time within which a GET does not move its item to the young end of the queue again (memcached, items.c: "
        "ITEM_UPDATE_INTERVAL); a longer time makes evictions more like those by age, and a cache that stands for "
        "a larger one needs as much less of it"),
    KEY_ROOM_ROW,
    COST_ROWS,
    TCP_ROWS,
    CYCLES_RATIO_ROW,
    BYPASS_ROWS,
    COUNT_ROW(
        "backlog", backlog, 1, 1e6, "277",
        "packets that the socket holds for the threads (Linux: net.core.rmem_default of 212992 bytes, of which "
        "a small packet takes 768)"),
    OUTSTANDING_ROW("256"),
};

static const struct kvc_option fatcache_rows[] = {
    COUNT_ROW(
        "instances", threads, 1, 1024, "8",
        "processes of Fatcache, each of which owns a part of the keys and of the SSD, waits for one read at a "
        "time, and has a core of its own, even if the CPU has fewer (github.com/twitter/fatcache, notes/performance.md: 8 on an SSD)"),
    ENTRIES_ROW("12.2e6",
                "fatcache -i, index memory of 64 MiB an instance, of 44 bytes an item, and 8 instances"),
    KEY_ROOM_ROW,
    REAL_ROW(
        "slab_memory", slab_memory_bytes, KVC_UNIT_BYTES, 0x1p20, 0x1p40, "64MiB",
        "memory of an instance for slabs of 1 MiB, the newest of all; items in them need no read (fatcache -m)"),
    REAL_ROW("disk", disk_bytes, KVC_UNIT_BYTES, 0x1p20, 0x1p50, "64GiB",
             "part of the SSD for slabs, which all instances share alike; more keeps more items"),
    COST_ROWS,
    TCP_ROWS,
    CYCLES_RATIO_ROW,
    OUTSTANDING_ROW("256"),
};

static const struct kvc_option mica_rows[] = {
    {.name = "feed",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_memcached_options, feed),
     .by_default = "network",
     .choices = feeds,
     .help =
         "network: requests are packets; memory: each core finds its requests in its memory, without packets, as in "
         "the limit study of the paper, and needs client_assisted"},
    {.name = "client_assisted",
     .type = KVC_OPTION_BOOL,
     .offset = offsetof(struct kvc_memcached_options, client_assisted),
     .by_default = "true",
     .help =
         "clients address the core that owns the key; otherwise the NIC spreads packets by their connections, and "
         "the core that receives a packet hands it to the owner"},
    REAL_ROW("log", log_bytes, KVC_UNIT_BYTES, 4096, 0x1p38, "64MiB",
             "circular log of items of a core, a power of two; a longer log keeps more items"),
    COUNT_ROW("buckets", buckets, 1, 0x1p30, "65536",
              "buckets of 15 entries in the index of a core; more buckets evict less"),
    CYCLES_ROW(
        "compute", compute_cycles, "162",
        "core cycles of a GET, memory stalls excluded (measured: this project's MICA, 16-byte keys in bursts "
        "of 32 from its caches, 26.5 ns on a Xeon with Redwood Cove at 3.55 GHz, 94 cycles; " SANDY_BRIDGE
        ")"),
    CYCLES_ROW(
        "set_compute", set_compute_cycles, "175",
        "core cycles of a SET or DELETE, memory stalls excluded (measured: likewise, 101 cycles; " SANDY_BRIDGE
        ")"),
    BYPASS_ROWS,
    COUNT_ROW(
        "burst", burst, 1, 64, "32",
        "most packets that a core receives, serves and sends at a time; more packets overlap more memory stalls "
        "and delay each other"),
    COUNT_ROW(
        "fill_buffers", fill_buffers, 1, 1024, "10",
        "lines that a core can wait for at a time (Intel 64 and IA-32 Architectures Optimization Reference "
        "Manual: 10 line fill buffers); more lines overlap more stalls of a burst"),
    REAL_ROW(
        "remote_line", remote_line_ns, KVC_UNIT_NS, 0, 1e6, "126ns",
        "time of a line from the other socket, for packets that one core hands to another (kvdirect.t4.lat.remote_a "
        "and remote_b: 129.3 and 122.3 ns on Xeon E5-2650 v2)"),
    OUTSTANDING_ROW("2048"),
};

static const struct kvc_option fpga_rows[] = {
    ENTRIES_ROW("2e6", "Istvan et al., TRETS 8(2), 2015: 2 million entries"),
    COUNT_ROW("ways", ways, 1, 16, "8",
              "items of a bucket, which are compared at once: 1, 2, 4, 8 or 16; more ways evict less"),
    KEY_ROOM_ROW,
    COUNT_ROW(
        "datapath", datapath_bytes, 1, 4096, "8",
        "bytes that the pipeline takes in a clock, of one port of 10 Gbit/s (IEEE 802.3ae: 64 bits at 156.25 "
        "MHz); more bytes raise the highest throughput"),
    REAL_ROW(
        "depth", depth_cycles, KVC_UNIT_NONE, 0, 1e9, "625",
        "clocks of a packet in the pipeline besides those of its bytes (memcachedgpu.t6.fpga.lat, 4 us at 156.25 "
        "MHz: an input, so that the latency is no prediction)"),
    REAL_ROW("price", price_usd, KVC_UNIT_NONE, 0, 1e9, "7100",
             "price of the FPGA [US dollars]; 0: unknown (MemcachedGPU, sec. 5.6: digikey.com)"),
    OUTSTANDING_ROW("256"),
};

#define TABLE(rows_)                                                                                         \
    {                                                                                                        \
        .name = "system", .rows = rows_, .count = sizeof(rows_) / sizeof(*(rows_)),                          \
        .size = sizeof(struct kvc_memcached_options)                                                         \
    }

const struct kvc_option_table kvc_memcached_option_table = TABLE(memcached_rows);
const struct kvc_option_table kvc_memcached_mica_option_table = TABLE(mica_rows);
const struct kvc_option_table kvc_memcached_fpga_option_table = TABLE(fpga_rows);
const struct kvc_option_table kvc_memcached_fatcache_option_table = TABLE(fatcache_rows);
