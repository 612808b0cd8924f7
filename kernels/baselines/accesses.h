/* Accesses to memory in units of 64 bytes, as the figures of KV-Direct count them.
 *
 * Source: KV-Direct, SOSP 2017, sec. 5.1.1 and Fig. 11. There a line that an operation reads and then writes
 * back costs two accesses; struct kvc_index_stats counts it as one line. */
#ifndef KVC_KERNELS_BASELINES_ACCESSES_H
#define KVC_KERNELS_BASELINES_ACCESSES_H

#include <stdint.h>

/* 64-byte accesses; operations add to it. */
struct kvc_memory_accesses {
    uint64_t reads;
    uint64_t writes;
};

#endif
