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
#define NODES_ROW(name_, field, text)                                                                        \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_COUNT, .offset = offsetof(struct kvc_bluecache_options, field),    \
        .min = 1, .max = 4096, .by_default = "nodes", .auto_word = "nodes", .auto_value = 0, .help = text    \
    }

/* What the host's threads take was measured with this project's C library on one core of a Xeon with Redwood
 * Cove; the paper's processors are older and slower, by a factor that nobody has published. */
#define MEASURED "(measured on a Xeon with Redwood Cove at 2.6 GHz, two cores: medians)"

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
    NODES_ROW("stores", stores, "nodes that store keys, from node 0 on; the others only pass on and ask"),
    NODES_ROW("app_servers", app_servers, "nodes whose host asks, from node 0 on; the others have none"),
    COUNT_ROW("outstanding", outstanding, 1, 1e6, "256",
              "requests that a saturating host keeps in flight; more of them hide more latency"),
    REAL_ROW(
        "call", call_ns, KVC_UNIT_NS, 0, 1e9, "350ns",
        "time for which an application thread holds the lock of the DMA segments to write a request; with "
        "arrival = clients only " MEASURED),
    REAL_ROW(
        "wake", wake_ns, KVC_UNIT_NS, 0, 1e9, "2us",
        "time that the response thread takes to hand a response to its thread and to wake it; with arrival = "
        "clients only " MEASURED),
    REAL_ROW(
        "switch", switch_ns, KVC_UNIT_NS, 0, 1e9, "5us",
        "time from waking a thread until it runs, on an idle core; with arrival = clients only " MEASURED),
};

const struct kvc_option_table kvc_bluecache_option_table = {.name = "system",
                                                            .rows = rows,
                                                            .count = sizeof(rows) / sizeof(*rows),
                                                            .size = sizeof(struct kvc_bluecache_options)};
