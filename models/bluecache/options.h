/* Options of BlueCache: the scenario's `system` table. Source: Xu et al., BlueCache, PVLDB 10(4), 2016. */
#ifndef KVC_MODELS_BLUECACHE_OPTIONS_H
#define KVC_MODELS_BLUECACHE_OPTIONS_H

#include <stdint.h>

#include "sim/base/text/option.h"

struct kvc_bluecache_options {
    double index_bytes, dram_bytes, flash_bytes; /* Of one node. */
    uint64_t chunk_pages;
    uint64_t stores, app_servers; /* 0: as many as there are nodes. */
    uint64_t outstanding;
    double segment_bytes;
    uint64_t segments; /* A direction. */
    uint64_t table;    /* Entries of the protocol engine's table; 0: the tags of its flash. */
    double call_ns, wake_ns, switch_ns, flush_pause_ns;
};

extern const struct kvc_option_table kvc_bluecache_option_table;

#endif
