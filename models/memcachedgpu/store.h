/* The data of MemcachedGPU's servers: the real tables, which model GPU memory, and the real slabs of the
 * items, which model host memory. */
#ifndef KVC_MODELS_MEMCACHEDGPU_STORE_H
#define KVC_MODELS_MEMCACHEDGPU_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/megakv/slab.h"
#include "models/memcachedgpu/config.h"
#include "models/memcachedgpu/tables.h"
#include "sim/base/progress.h"
#include "sim/scenario.h"

/* The data of one server. */
struct kvc_memcachedgpu_shard {
    struct kvc_memcachedgpu_tables tables;
    struct kvc_megakv_slab *slab;
    struct kvc_index_stats index_stats;
    struct kvc_megakv_slab_stats slab_stats;
    uint32_t stamp;     /* Timestamp of the latest batch or write. */
    double *written_ns; /* When each item was written, by its place in the slabs [ns]; NULL: items do not
                           expire. */
    uint64_t rejected;  /* SETs that found no memory. */
    uint64_t expired;   /* Items that GETs found expired. */
    uint64_t stale;     /* GETs whose item had left the slabs. */
};

struct kvc_memcachedgpu_store {
    uint32_t shard_count;
    struct kvc_memcachedgpu_shard *shards; /* NULL with functional = "off". */
    uint8_t *value;                        /* Value that SETs write. */
    double preload_wall_s;                 /* Wall-clock time of creating and preloading [s]. */
};

/* Returns the memory of all servers' data [bytes]. */
double kvc_memcachedgpu_store_memory_bytes(const struct kvc_scenario *scenario);

/* Frees a store. NULL is allowed. */
void kvc_memcachedgpu_store_free(struct kvc_memcachedgpu_store *store);

/* Creates the servers' data and preloads them in a random order, as a client does that stores keys without
 * knowing how popular they will be. `seed` is the replica's. `progress` may be NULL. Returns
 * an error if the workload's keys cannot be read, and exits with status 3 if memory is short. */
enum kvc_status kvc_memcachedgpu_store_create(const struct kvc_scenario *scenario, uint64_t seed,
                                              const struct kvc_progress *progress,
                                              struct kvc_memcachedgpu_store **store, struct kvc_diag *diag);

/* Effect of a write. */
struct kvc_memcachedgpu_written {
    bool left;      /* An item left the table because it was replaced, evicted or deleted. */
    uint32_t stamp; /* Timestamp of the item's latest access. */
};

/* Stores the key that stands for key_id, at the time now_ns. */
struct kvc_memcachedgpu_written kvc_memcachedgpu_store_set(const struct kvc_memcachedgpu_store *store,
                                                           struct kvc_memcachedgpu_shard *shard,
                                                           uint64_t key_id, uint32_t key_bytes,
                                                           uint32_t value_bytes, double now_ns);

struct kvc_memcachedgpu_written kvc_memcachedgpu_store_delete(struct kvc_memcachedgpu_shard *shard,
                                                              uint64_t key_id, uint32_t key_bytes);

/* Returns the time at which the item at a location was written [ns]. */
double *kvc_memcachedgpu_written_ns(const struct kvc_memcachedgpu_shard *shard, uint32_t location);

#endif
