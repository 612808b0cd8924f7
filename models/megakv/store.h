/* Mega-KV's data: a real cuckoo index and a real slab store for each shard, which is a socket.
 *
 * With functional = "sampled", the index and every size class of the slabs are smaller by the sampling rate
 * and hold a sample of the keys (sim/workload/keys/sampling.h), so they are as full, and evict as often, as
 * the whole ones. All requests for these keys run through them, and of the requests for hot keys a sample,
 * with the key's representative in its place. Every request that runs therefore stands for as many as the
 * rate says. */
#ifndef KVC_MODELS_MEGAKV_STORE_H
#define KVC_MODELS_MEGAKV_STORE_H

#include <stdint.h>

#include "kernels/megakv/cuckoo.h"
#include "kernels/megakv/slab.h"
#include "models/model.h"
#include "sim/workload/batch.h"
#include "sim/workload/keys/sampling.h"
#include "sim/workload/source/source.h"

struct kvc_megakv_shard {
    struct kvc_index *index;
    struct kvc_megakv_slab *slab;
    struct kvc_index_stats index_stats;
    struct kvc_megakv_slab_stats slab_stats;
    uint64_t rejected; /* SETs that found no memory. */
    uint64_t read;     /* GETs that read the slabs. */
};

struct kvc_megakv_store {
    uint32_t shard_count;
    struct kvc_megakv_shard *shards; /* NULL with functional = "off". */
    struct kvc_sampling sampling;    /* The rate is 0 with functional = "off". */
    uint64_t *representative;        /* Of each hot key; NULL: there are none. */
    struct kvc_batch *stand_in;      /* One row: the representative that was looked up last. */
    uint8_t *value;        /* The value that SETs write; its first 8 bytes become the hash of the key. */
    double preload_wall_s; /* Wall-clock time of creating and preloading [s]. */
};

/* What a store is created from. A store with this index and these slabs need not be Mega-KV. */
struct kvc_megakv_store_params {
    uint32_t sockets;           /* Shards of a node. */
    double index_bytes;         /* Of a shard. */
    double slab_bytes;          /* Of a shard. */
    uint32_t max_displacements; /* Of an insert. */
    uint64_t sample_rate;       /* See sim/workload/keys/sampling.h; 0: no shards. */
};

/* Returns the memory that all shards take after they have stored their keys and, in the run, `writes` more
 * items [bytes]. Items take `item_bytes` on average. */
double kvc_megakv_store_memory_bytes(const struct kvc_scenario *scenario,
                                     const struct kvc_megakv_store_params *params, double item_bytes,
                                     double writes);

/* Returns what the store of a scenario of Mega-KV is created from. */
struct kvc_megakv_store_params kvc_megakv_store_params_of(const struct kvc_scenario *scenario);

/* Frees a store. NULL is allowed. */
void kvc_megakv_store_free(struct kvc_megakv_store *store);

/* Creates the shards and preloads them, the least popular keys first, so that the popular ones survive
 * eviction. `seed` is that of the replica. `progress` may be NULL. Returns KVC_ERR_RUNTIME if memory is
 * short. */
enum kvc_status kvc_megakv_store_build(const struct kvc_scenario *scenario,
                                       const struct kvc_megakv_store_params *params, uint64_t seed,
                                       const struct kvc_progress *progress, struct kvc_megakv_store **store,
                                       struct kvc_diag *diag);

/* Builds the store of a scenario of Mega-KV. */
enum kvc_status kvc_megakv_store_create(const struct kvc_scenario *scenario, uint64_t seed,
                                        const struct kvc_progress *progress, struct kvc_megakv_store **store,
                                        struct kvc_diag *diag);

/* Returns the parameters of the scenario's request source in a replica with this seed: every socket is
 * a shard. */
struct kvc_source_params kvc_megakv_source_of(const struct kvc_scenario *scenario, uint64_t seed);

/* Puts the representative of the hot key in a row into its place. */
void kvc_megakv_store_represent(const struct kvc_megakv_store *store, const struct kvc_source *source,
                                struct kvc_batch *batch, uint32_t row);

/* Writes the items of the rows rows[0] to rows[count - 1] of `batch` into the shard's slabs. Sets location[i]
 * to the place of row rows[i], or to KVC_LOCATION_NONE if it found no memory. Returns the number of items
 * that were evicted for them, at most `count`, and lists them in `evicted`. */
uint32_t kvc_megakv_store_write(const struct kvc_megakv_store *store, struct kvc_megakv_shard *shard,
                                const struct kvc_batch *batch, const uint32_t *rows, uint32_t count,
                                uint32_t *location, struct kvc_megakv_slab_evicted *evicted);

#endif
