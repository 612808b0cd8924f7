/* The real tables of all servers of a replica, with their preloaded items. */
#ifndef KVC_MODELS_MEMCACHED_STORE_H
#define KVC_MODELS_MEMCACHED_STORE_H

#include "models/memcached/shard.h"
#include "sim/base/progress.h"

struct kvc_memcached_store {
    struct kvc_memcached_shard *shard;
    uint32_t shards;
    double preload_wall_s;
};

/* Returns the memory that the tables and the recorder of a replica take [bytes]. */
double kvc_memcached_memory_bytes(const struct kvc_scenario *scenario);

/* Creates and fills the tables. `*state` becomes a struct kvc_memcached_store. */
enum kvc_status kvc_memcached_store_create(const struct kvc_scenario *scenario, uint64_t seed, void **state,
                                           const struct kvc_progress *progress, struct kvc_diag *diag);
void kvc_memcached_store_free(struct kvc_memcached_store *store);

#endif
