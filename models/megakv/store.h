/* Mega-KV's data: per shard (socket) a cuckoo index and a slab store, the real ones.
 *
 * With functional = "sampled" only 1/sample_rate of the keys live here (sim/workload/sampling.h), in tables
 * scaled down alike. The most popular keys, each of which would stand for a share of all
 * requests that shows, are all kept (in memory of their own, beside the scaled slabs) and thinned by request
 * instead: 1/sample_rate of their requests is run. So every request that is run stands for sample_rate. */
#ifndef KVC_MODELS_MEGAKV_STORE_H
#define KVC_MODELS_MEGAKV_STORE_H

#include <stdint.h>

#include "kernels/megakv/cuckoo.h"
#include "kernels/megakv/slab.h"
#include "models/model.h"
#include "sim/workload/batch.h"
#include "sim/workload/sampling.h"
#include "sim/workload/source.h"

enum { KVC_MEGAKV_HASH_SEED = 0x6d656761 };

struct kvc_megakv_shard {
    struct kvc_index *index;
    struct kvc_megakv_slab *slab;
    struct kvc_index_stats index_stats;
    struct kvc_megakv_slab_stats slab_stats;
    uint64_t rejected; /* SETs that found no memory */
};

struct kvc_megakv_store {
    uint32_t shard_count;
    struct kvc_megakv_shard *shards; /* NULL: functional = "off" */
    struct kvc_sampling sampling;    /* rate 0: functional = "off" */
    uint8_t *value;                  /* what SETs write; the first 8 bytes are the key's hash */
    double preload_wall_s;
};

/* Memory of all shards in bytes. */
double kvc_megakv_store_bytes(const struct kvc_scenario *scenario);

void kvc_megakv_store_free(struct kvc_megakv_store *store); /* NULL is allowed */

/* Creates and preloads: least popular keys first, so that the popular ones survive eviction. */
enum kvc_status kvc_megakv_store_create(const struct kvc_scenario *scenario,
                                        const struct kvc_progress *progress, struct kvc_megakv_store **store,
                                        struct kvc_diag *diag);

/* Returns the parameters of the scenario's request source: every socket is a shard. */
struct kvc_source_params kvc_megakv_source_of(const struct kvc_scenario *scenario);

/* Writes the items of `count` rows of `batch` into the shard's slabs. location[i] is where row rows[i] went,
 * KVC_LOCATION_NONE without memory. Returns how many items were evicted for it (at most `count`). */
uint32_t kvc_megakv_store_write(const struct kvc_megakv_store *store, struct kvc_megakv_shard *shard,
                                const struct kvc_batch *batch, const uint32_t *rows, uint32_t count,
                                uint32_t *location, struct kvc_megakv_slab_evicted *evicted);

#endif
