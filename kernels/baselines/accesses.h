/** @file
 * Accesses to memory in units of 64 bytes, as the figures of KV-Direct count them.
 *
 * Source: KV-Direct, SOSP 2017, sec. 5.1.1 and fig. 11. A line that an operation reads and then writes back
 * costs two accesses there; struct kvc_index_stats counts it as one line. */
#ifndef KVC_KERNELS_BASELINES_ACCESSES_H
#define KVC_KERNELS_BASELINES_ACCESSES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Accesses to 64-byte lines. Operations add to them. */
struct kvc_memory_accesses {
    uint64_t reads;  /**< Lines read. */
    uint64_t writes; /**< Lines written. */
};

#ifdef __cplusplus
}
#endif

#endif
