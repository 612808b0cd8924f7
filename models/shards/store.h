/* A key-value store of an index and slabs, one pair for each shard. They are the real data structures of
 * Mega-KV (kernels/megakv), which other stores use, too; the index may also be one of another kind, and a log
 * may hold the items (kernels/item_log).
 *
 * With functional = "sampled", the index and every size class of the slabs are smaller by the sampling rate
 * and hold a sample of the keys (sim/workload/keys/sampling.h). They are therefore as full as in the whole
 * store, and evict as often. The store runs all requests for the sampled keys. It also runs a sample of the
 * requests for hot keys, with the representative of the hot key in its place. Each request that runs stands
 * for as many requests as the sampling rate says. */
#ifndef KVC_MODELS_SHARDS_STORE_H
#define KVC_MODELS_SHARDS_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/index.h"
#include "kernels/item_log/item_log.h"
#include "kernels/megakv/cuckoo.h"
#include "kernels/megakv/slab.h"
#include "models/model.h"
#include "sim/workload/batch.h"
#include "sim/workload/keys/sampling.h"
#include "sim/workload/source/source.h"

struct kvc_shard {
    struct kvc_index *index;
    struct kvc_megakv_slab *slab; /* NULL: the store has none. */
    struct kvc_item_log *log;     /* NULL: the store has none. */
    struct kvc_index_stats index_stats;
    struct kvc_megakv_slab_stats slab_stats;
    uint64_t rejected; /* SETs that found no memory. */
    uint64_t read;     /* GETs that read the slabs. */
};

struct kvc_shards {
    uint32_t shard_count;
    struct kvc_shard *shards;     /* NULL with functional = "off". */
    struct kvc_sampling sampling; /* The rate is 0 with functional = "off". */
    uint64_t *representative;     /* The key that stands for each hot key; NULL: no key is hot. */
    struct kvc_batch *stand_in;   /* One row: the representative that was looked up last. */
    uint8_t *value;        /* The value that SETs write; its first 8 bytes become the hash of the key. NULL:
                              the slabs keep no values. */
    bool has_pairs;        /* The index holds values, and the location of a key is the size of its pair. */
    double preload_wall_s; /* Wall-clock time of creating and preloading [s]. */
};

/* Returns the location of a row's key in the index of a store without slabs, which nobody reads. */
static inline uint32_t kvc_shards_place(const struct kvc_shards *store, const struct kvc_batch *batch,
                                        uint32_t row)
{
    return store->has_pairs ? batch->key_bytes[row] + batch->value_bytes[row]
                            : (uint32_t)batch->hash[row] & 0x7fffffff;
}

/* The parameters of a store. */
struct kvc_shards_params {
    uint32_t sockets;                  /* Shards of a node. */
    const struct kvc_index_kind *kind; /* Kind of the index; NULL: the cuckoo table. */
    double index_bytes;                /* Size of a shard's index. */
    double slab_bytes;                 /* Item memory of a shard; 0: the index alone holds the keys. */
    bool logs;                         /* A log holds the items, instead of slabs. */
    double page_bytes;                 /* Of a log: size of its pages; 0: it has none. */
    bool spreads; /* The preload stores keys in any order; otherwise, the popular ones come last and stay. */
    uint32_t max_displacements;   /* Elements that cuckoo hashing moves before an insert drops one. */
    uint64_t sample_rate;         /* See sim/workload/keys/sampling.h; 0: no shards. */
    struct kvc_index_pairs pairs; /* Pairs of an index that holds values; zeroed: it holds none. */
    bool keeps_values; /* The slabs hold the bytes of keys and values; otherwise hashes stand for them. */
};

/* Returns the memory of all shards after they have stored their keys and `writes` more items during the run
 * [bytes]. Items take `item_bytes` on average. */
double kvc_shards_memory_bytes(const struct kvc_scenario *scenario, const struct kvc_shards_params *params,
                               double item_bytes, double writes);

/* Frees a store. NULL is allowed. */
void kvc_shards_free(struct kvc_shards *store);

/* Returns the elements of all indexes over those that they hold when they are full; NaN without any. */
double kvc_shards_load_frac(const struct kvc_shards *store);

/* Adds to the metrics of kernels how many lines a search and an insert touched between two readings of the
 * counters. */
void kvc_shards_report_lines(const struct kvc_index_stats *first, const struct kvc_index_stats *last,
                             struct kvc_metrics *kernel);

/* Creates the shards and preloads them, the least popular keys first, so that the popular ones survive
 * eviction. `seed` is the seed of the replica. `progress` may be NULL. Returns an error if the workload's
 * keys cannot be read, and exits with status 3 if memory is short. */
enum kvc_status kvc_shards_create(const struct kvc_scenario *scenario, const struct kvc_shards_params *params,
                                  uint64_t seed, const struct kvc_progress *progress,
                                  struct kvc_shards **store, struct kvc_diag *diag);

/* Lists the parameters for struct kvc_model's `sizes`, and returns their number. */
uint32_t kvc_shards_sizes(const struct kvc_shards_params *params, double *size);

/* Replaces the hot key in a row by its representative. */
void kvc_shards_represent(const struct kvc_shards *store, const struct kvc_source *source,
                          struct kvc_batch *batch, uint32_t row);

/* Writes the items of the rows rows[0] to rows[count - 1] of `batch` into the shard's slabs. Sets location[i]
 * to the location of row rows[i], or to KVC_LOCATION_NONE if the slabs had no memory for it. Lists the items
 * that were evicted in `evicted` and returns their number, at most `count`. */
uint32_t kvc_shards_write(const struct kvc_shards *store, struct kvc_shard *shard,
                          const struct kvc_batch *batch, const uint32_t *rows, uint32_t count,
                          uint32_t *location, struct kvc_megakv_slab_evicted *evicted);

/* Appends the item of a row to the shard's log, for which kvc_item_log_evict() has made room. Returns its
 * location, or KVC_LOCATION_NONE if it is larger than the log. Exits with status 3 if memory is short. */
uint32_t kvc_shards_append(const struct kvc_shards *store, struct kvc_shard *shard,
                           const struct kvc_batch *batch, uint32_t row);

#endif
