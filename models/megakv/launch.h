/* The work of the GPU for a launch of index operations. */
#ifndef KVC_MODELS_MEGAKV_LAUNCH_H
#define KVC_MODELS_MEGAKV_LAUNCH_H

#include <stdint.h>

#include "kernels/megakv/cuckoo.h"
#include "sim/devices/gpu.h"

/* Bytes that pass through the caches with a GET of the smallest item, 8 bytes of key and 8 of value: a packet
 * of 16 bytes, a row of its batch with key, length, hash, location and time, and the item's line. Before each
 * measured launch as many pass for each of its jobs. */
enum { KVC_MEGAKV_PASSING_BYTES = 16 + (8 + 1 + 8 + 4 + 8) + 64 };

/* The two kernels of the index. */
enum kvc_megakv_kernel {
    KVC_MEGAKV_KERNEL_SEARCH,
    KVC_MEGAKV_KERNEL_INSERT, /* Inserts and deletes. */
};

/* Returns the line that was fitted to the launches of a kernel at a clock pair, or NULL if there is no fit.
 */
const struct kvc_gpu_fit *kvc_megakv_gpu_fit(const struct kvc_gpu_clock *clock,
                                             enum kvc_megakv_kernel kernel);

/* Returns the work of a launch of `jobs` jobs. `stats` holds the counters of the index so far; NULL: the
 * values of a typical half-full table. */
struct kvc_gpu_work kvc_megakv_gpu_work(enum kvc_megakv_kernel kernel, double jobs, uint32_t streams,
                                        const struct kvc_index_stats *stats);

#endif
