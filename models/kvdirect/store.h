/* KV-Direct's data: per NIC a hash table with its slabs, the real one, and the NIC's DRAM cache.
 *
 * With functional = "sampled" only one key of each sample_rate lives here (sim/workload/sampling.h), in
 * memory and cache scaled down alike; the most popular keys, each of which shows in a cache's hit ratio, are
 * all kept, in memory of their own. Operations on other keys take the accesses of recent ones on kept keys
 * that are not among the most popular. */
#ifndef KVC_MODELS_KVDIRECT_STORE_H
#define KVC_MODELS_KVDIRECT_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/kvdirect/table.h"
#include "models/kvdirect/dispatch.h"
#include "models/model.h"
#include "sim/workload/sampling.h"

enum { KVC_KVDIRECT_HASH_SEED = 0x6b766469 };

struct kvc_kvdirect_shard {
    struct kvc_kvdirect_table *table;
    struct kvc_kvdirect_dispatch dispatch;
    struct kvc_kvdirect_table_stats stats; /* since the run began */
};

struct kvc_kvdirect_store {
    uint32_t shard_count;
    struct kvc_kvdirect_shard *shards;
    struct kvc_sampling sampling; /* the most popular keys are kept whole only under Zipf popularity */
    double utilization_frac;      /* bytes of all pairs over all memory, after preloading */
    uint64_t refused;             /* pairs that found no memory when preloading */
    double preload_wall_s;
};

double kvc_kvdirect_store_bytes(const struct kvc_scenario *scenario);

void kvc_kvdirect_store_free(struct kvc_kvdirect_store *store); /* NULL is allowed */

/* Creates, preloads, and fills the caches as a long run would. */
enum kvc_status kvc_kvdirect_store_create(const struct kvc_scenario *scenario,
                                          const struct kvc_progress *progress,
                                          struct kvc_kvdirect_store **store, struct kvc_diag *diag);

/* Returns the parameters of the scenario's request source: every NIC is a shard. */
struct kvc_source_params kvc_kvdirect_source_of(const struct kvc_scenario *scenario);

/* The value that a key has before the run. */
void kvc_kvdirect_first_value(uint64_t hash, uint8_t *value, uint32_t bytes);

#endif
