#include "models/bluecache/options.h"

#include <stddef.h>

#define COUNT_ROW(name_, field, low, high, standard, text)                                                   \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_COUNT, .offset = offsetof(struct kvc_bluecache_options, field),    \
        .min = low, .max = high, .by_default = standard, .help = text                                        \
    }
#define REAL_ROW(name_, field, unit_, low, high, standard, text)                                             \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_REAL, .offset = offsetof(struct kvc_bluecache_options, field),     \
        .unit = unit_, .min = low, .max = high, .by_default = standard, .help = text                         \
    }
#define AUTO_ROW(name_, field, high, word, text)                                                             \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_COUNT, .offset = offsetof(struct kvc_bluecache_options, field),    \
        .min = 1, .max = high, .by_default = word, .auto_word = word, .auto_value = 0, .help = text          \
    }

/* The authors' program: what the paper leaves open is as there. */
#define PROGRAM "github.com/xushuotao/fpgamemcached"

/* The host's threads: the paper publishes none of their times. */
#define SWITCH                                                                                               \
    "(Li, Ding and Shen, Quantifying the Cost of Context Switch, ExpCS 2007: 3.8 us on a Xeon at 2 GHz)"

static const struct kvc_option rows[] = {
    REAL_ROW("index", index_bytes, KVC_UNIT_BYTES, 64, 0x1p38, "64MiB",
             "index of a node, a power of two; 16 bytes hold a key, and more of them evict fewer"),
    REAL_ROW(
        "dram", dram_bytes, KVC_UNIT_BYTES, 0, 0x1p39, "512MiB",
        "store of pairs in the DRAM of a node, in whole slabs of 2 MiB; 0: all pairs go to flash at once"),
    REAL_ROW(
        "flash", flash_bytes, KVC_UNIT_BYTES, 1, 0x1p40, "1GiB",
        "log on the flash of a node, rounded down to whole rows of blocks; a longer log keeps more keys"),
    COUNT_ROW(
        "chunk", chunk_pages, 1, 32767, "128",
        "pages of a write buffer, programmed together (bluecache.flash.chunk_pages); there are two buffers"),
    AUTO_ROW("stores", stores, 4096, "nodes",
             "nodes that store keys, from node 0 on; the others only pass on and ask"),
    AUTO_ROW("app_servers", app_servers, 4096, "nodes",
             "nodes whose host asks, from node 0 on; the others have none"),
    COUNT_ROW(
        "outstanding", outstanding, 1, 1e6, "1024",
        "requests that a saturating host has written and not yet got back; more than a segment each way "
        "holds are needed to hide latency (the paper's host writes 40000 without waiting, "
        "bluecache.multi.ops)"),
    REAL_ROW("segment", segment_bytes, KVC_UNIT_BYTES, 24, 0x1p20, "8KiB",
             "DMA segment in which requests and responses are collected; it must hold the header and the key "
             "of a request (bluecache.dma.segment)"),
    COUNT_ROW(
        "segments", segments, 1, 65536, "128",
        "DMA segments of a host in each direction; a host or card that has used all of them waits until "
        "one has been read (bluecache.dma.segments)"),
    AUTO_ROW("table", table, 1e6, "tags",
             "requests of a host that its card's protocol engine has in its table of keys at a time, further "
             "ones wait; tags: as many as the card's flash has, by whose tags the table is indexed in the "
             "authors' program (" PROGRAM ": KVStoreCompletionBuffer, TagAlloc)"),
    REAL_ROW(
        "call", call_ns, KVC_UNIT_NS, 0, 1e9, "19ns",
        "time for which an application thread holds the lock of the DMA segments to write a request, with "
        "arrival = clients (measured: mutex, copy and buffer of a GET without contention, on a Xeon with "
        "Redwood Cove at 2.6 GHz)"),
    REAL_ROW(
        "wake", wake_ns, KVC_UNIT_NS, 0, 1e9, "3.8us",
        "time that the response thread takes to wake an application thread, with arrival = clients " SWITCH),
    REAL_ROW(
        "switch", switch_ns, KVC_UNIT_NS, 0, 1e9, "3.8us",
        "time from waking a thread until it runs, with arrival = clients; an interrupt wakes the one that "
        "handles it " SWITCH),
    REAL_ROW("flush_pause", flush_pause_ns, KVC_UNIT_NS, 0, 1e9, "200us",
             "time for which the flushing thread sleeps after a flush, with arrival = clients (" PROGRAM
             ": the daemon of the Java client; other versions there sleep 100 us or 10 ms)"),
};

const struct kvc_option_table kvc_bluecache_option_table = {.name = "system",
                                                            .rows = rows,
                                                            .count = sizeof(rows) / sizeof(*rows),
                                                            .size = sizeof(struct kvc_bluecache_options)};
