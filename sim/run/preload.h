/** @file
 * Walks over the keys that a store holds before a run, for example to preload them.
 *
 * These are the most popular `preload_frac` of the workload's keys, or the keys among these that the store's
 * sample contains (sim/workload/keys/sampling.h). A walk visits them in blocks and hands each shard its own
 * keys. */
#ifndef KVC_SIM_RUN_PRELOAD_H
#define KVC_SIM_RUN_PRELOAD_H

#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/base/progress.h"
#include "sim/workload/keys/sampling.h"
#include "sim/workload/source/source.h"

enum { KVC_PRELOAD_KEYS_MAX = 4097 /**< Most keys in a block. */ };

/** The order of the blocks. Within a block, the keys of a visit are in a random order. */
enum kvc_preload_order {
    /** The least popular block comes first, so that the popular keys survive eviction. */
    KVC_PRELOAD_POPULAR_LAST,
    /** The order is random, and every block contains keys of all popularities. Keys beyond the last whole
       stratum of a sample are left out. */
    KVC_PRELOAD_SPREAD,
};

/** One visit: the keys of one block that belong to one shard. */
struct kvc_preload_visit {
    uint32_t shard;                /**< Number of the shard. */
    const struct kvc_batch *batch; /**< The whole block. */
    const uint32_t *row;           /**< The shard's keys are row[0] to row[count - 1] of the batch. */
    uint32_t count;                /**< Number of these rows, at least 1. */
};

/** A walker. */
struct kvc_preload;

/** Frees a walker. NULL is allowed. */
void kvc_preload_free(struct kvc_preload *preload);

/** Creates a walker. The parameters are for a request source: its seed selects the order, its
 * `frame_requests` have no effect. Two walks have the same order. Returns NULL and fills `diag` if
 * kvc_source_create() does. */
struct kvc_preload *kvc_preload_create(const struct kvc_source_params *params,
                                       const struct kvc_sampling *sampling, struct kvc_diag *diag);

/** Visits all keys: calls visit() with `data` for every block and every shard that owns a key of the block,
 * in the order of the shards. Reports progress under the name `step`; `progress` may be NULL. The keys of a
 * trace are not known beforehand, and nothing is visited. */
void kvc_preload_walk(struct kvc_preload *preload, enum kvc_preload_order order,
                      const struct kvc_progress *progress, const char *step,
                      void (*visit)(void *data, const struct kvc_preload_visit *visit), void *data);

#endif
