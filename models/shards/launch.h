/* The work of a GPU for a launch of operations on an index in its memory. */
#ifndef KVC_MODELS_SHARDS_LAUNCH_H
#define KVC_MODELS_SHARDS_LAUNCH_H

#include "kernels/index.h"
#include "sim/devices/gpu.h"

/* Bytes of a search's job and its result that pass through the cache of the GPU: signature, hash and
 * location. */
enum { KVC_SHARDS_JOB_BYTES = 12 };

/* The two kernels of the index. */
enum kvc_shards_kernel {
    KVC_SHARDS_SEARCH,
    KVC_SHARDS_INSERT, /* Inserts and deletes. */
};

/* Returns the line that was fitted to the launches of a kernel at a clock pair, or NULL if there is no fit.
 */
const struct kvc_gpu_fit *kvc_shards_gpu_fit(const struct kvc_gpu_clock *clock,
                                             enum kvc_shards_kernel kernel);

/* Returns the work of a launch of `jobs` jobs. `stats` holds the counters of the index so far; NULL: the
 * values of a typical half-full table. */
struct kvc_gpu_work kvc_shards_gpu_work(enum kvc_shards_kernel kernel, double jobs, uint32_t streams,
                                        const struct kvc_index_stats *stats);

/* Sets what the L2 cache changes: `l2_frac` of the index's lines are in it, and `hot_frac` of the requests
 * are for the most popular key, at whose place they wait for one another. */
void kvc_shards_gpu_caches(enum kvc_shards_kernel kernel, double l2_frac, double hot_frac,
                           struct kvc_gpu_work *work);

#endif
