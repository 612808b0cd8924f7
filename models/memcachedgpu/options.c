#include "models/memcachedgpu/options.h"

#include <stddef.h>

#include "kernels/memcachedgpu/packet.h"
#include "kernels/megakv/slab.h"

static const char *const receives[] = {"gpu", "host", NULL};
static const char *const feeds[] = {"network", "memory", NULL};
static const char *const indexes[] = {"sets", "hopscotch", "chained", NULL};
static const char *const tables[] = {"one", "by_key_size", NULL};
static const char *const misses[] = {"leave", "set", NULL};
static const char *const udp[] = {"udp", NULL};
static const char *const tcp[] = {"tcp", NULL};

#define CHOICE_ROW(name_, words, standard, text)                                                             \
    {                                                                                                        \
        .name = #name_, .type = KVC_OPTION_CHOICE,                                                           \
        .offset = offsetof(struct kvc_memcachedgpu_options, name_), .by_default = standard,                  \
        .choices = words, .help = text                                                                       \
    }
#define COUNT_ROW(name_, field, low, high, standard, text)                                                   \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_COUNT, .offset = offsetof(struct kvc_memcachedgpu_options, field), \
        .min = low, .max = high, .by_default = standard, .help = text                                        \
    }
#define TIME_ROW(name_, field, standard, text)                                                               \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_REAL, .offset = offsetof(struct kvc_memcachedgpu_options, field),  \
        .unit = KVC_UNIT_NS, .min = 0, .max = 1e15, .by_default = standard, .help = text                     \
    }

static const struct kvc_option rows[] = {
    CHOICE_ROW(receive, receives, "gpu",
               "gpu: the NIC writes packets into GPU memory (GNoM); host: it writes them into host memory, "
               "and batches are copied to the GPU (NGD)"),
    CHOICE_ROW(feed, feeds, "network",
               "network: packets pass through the NIC; memory: they are read from host memory, and responses "
               "are not sent"),
    COUNT_ROW("batch", batch, 1, KVC_MEMCACHEDGPU_BATCH_MAX, "512",
              "packets that one kernel serves; larger batches raise throughput and the time that packets "
              "wait for others"),
    TIME_ROW("batch_timeout", batch_timeout_ns, "0us",
             "longest time that a batch waits to be full after its first packet; a shorter time lowers "
             "latency at low load; 0us: no limit"),
    COUNT_ROW("streams", streams, 1, KVC_MEMCACHEDGPU_STREAMS_MAX, "32",
              "CUDA streams, each of which has one batch at a time; more streams let more batches overlap"),
    COUNT_ROW("post_threads", post_threads, 1, KVC_MEMCACHEDGPU_POST_MAX, "2",
              "threads that fill and send responses (GNoM-post); each polls and so keeps a hardware thread "
              "busy"),
    COUNT_ROW("receive_ports", receive_ports, 1, 64, "1",
              "ports of the NIC at which requests arrive; responses leave by all ports in turn"),
    {.name = "receive_memory",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_memcachedgpu_options, receive_bytes),
     .unit = KVC_UNIT_BYTES,
     .min = 65536,
     .max = 1e12,
     .by_default = "220MiB",
     .help = "memory of all receive buffers, in whole pages of 64 KiB (memcachedgpu.grxb.pinned: the most "
             "that a K20c can pin, 112,640 buffers in the authors' program); more memory absorbs longer "
             "delays without drops"},
    COUNT_ROW("receive_buffer", buffer_bytes, 64, 65536, "2048",
              "size of a receive buffer in bytes, which one packet occupies (memcachedgpu.grxb.size); larger "
              "ones leave fewer of them"),
    CHOICE_ROW(index, indexes, "sets",
               "sets: set-associative table with an LRU in each set; hopscotch: overlapping neighbourhoods; "
               "chained: memcached's chains and one LRU queue"),
    CHOICE_ROW(tables, tables, "one",
               "one: every entry has room for the longest key; by_key_size: five tables with entries for "
               "keys of 16, 32, 64, 128 and 250 bytes, as large as their share of the keys"),
    COUNT_ROW("ways", ways, 1, 16, "16",
              "index = \"sets\": entries of a set, a power of two; more ways evict fewer popular items"),
    COUNT_ROW("entries", entries, 16, 4e9, "8300000",
              "entries of all tables (memcachedgpu.ht.server.entries); more entries hold more items"),
    COUNT_ROW("key_room", key_room, 1, KVC_MEMCACHEDGPU_PACKET_KEY_MAX, "250",
              "longest key in bytes that an entry has room for; a shorter one leaves room for more entries"),
    {.name = "slab",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_memcachedgpu_options, slab_bytes),
     .unit = KVC_UNIT_BYTES,
     .min = KVC_MEGAKV_SLAB_BYTES,
     .max = 137438953472.0,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = 0,
     .help = "host memory of the items; less memory evicts items that the tables still have entries for; "
             "auto: room for as many items as there are entries or keys, and 10 % more"},
    TIME_ROW("expiry", expiry_ns, "0s",
             "life of an item after its SET; a GET does not find it later, and removes it; 0s: for ever"),
    CHOICE_ROW(misses, misses, "leave",
               "leave: a miss has no consequence; set: the client sends a SET of the key that it missed"),
    CHOICE_ROW(get_transport, udp, "udp", "transport of GETs: the GPU parses UDP packets only"),
    CHOICE_ROW(set_transport, tcp, "tcp", "transport of SETs and DELETEs, which the CPU serves"),
    COUNT_ROW("set_threads", set_threads, 1, 64, "4",
              "threads of memcached that serve SETs and DELETEs, 4 by default in memcached; they update the "
              "table one after the other"),
    COUNT_ROW("set_connections", set_connections, 0, KVC_MEMCACHEDGPU_SET_CONNECTIONS_MAX, "0",
              "TCP connections that send SETs one after the other, besides the SETs of the workload; more "
              "connections keep more threads busy"),
    {.name = "damaged",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_memcachedgpu_options, damaged_frac),
     .min = 0,
     .max = 1,
     .by_default = "0",
     .help = "share of the packets with a wrong byte, which the parser finds; they are counted and not "
             "answered"},
    COUNT_ROW("background_blocks", background_blocks, 0, 1e6, "0",
              "thread blocks of another task on the same GPU; 0: there is none"),
    COUNT_ROW("background_threads", background_threads, 32, 1024, "1024",
              "threads of a block of the other task; more threads leave less room on a multiprocessor"),
    COUNT_ROW("background_kernels", background_kernels, 1, 1e6, "1",
              "launches that the blocks of the other task are divided over; smaller kernels delay packets "
              "less"),
    TIME_ROW("background_time", background_ns, "32ms",
             "time of the other task as one kernel on the idle GPU (memcachedgpu.bgt.256.time)"),
    TIME_ROW("background_start", background_start_ns, "0ms",
             "when the other task starts, counted from the begin of the measured time"),
};

const struct kvc_option_table kvc_memcachedgpu_option_table = {.name = "system",
                                                               .rows = rows,
                                                               .count = sizeof(rows) / sizeof(*rows),
                                                               .size =
                                                                   sizeof(struct kvc_memcachedgpu_options)};
