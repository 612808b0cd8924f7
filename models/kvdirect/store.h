/* KV-Direct's data: for each NIC the real hash table with its slabs, and the state of the NIC's DRAM cache.
 *
 * With functional = "sampled", the store keeps one key in sample_rate (sim/workload/keys/sampling.h), and
 * memory and cache are smaller by this rate. All requests are simulated: an operation on another key runs
 * on a stand-in key, which stays unchanged. The stand-in of a key that is not hot is the key of its
 * stratum, with the lines that the cache has of it now. The stand-in of a hot key is a key of the same
 * kind, which only determines the lines that the operation uses; the presence of each hot key and the
 * places of its lines are simulated (dispatch.h). */
#ifndef KVC_MODELS_KVDIRECT_STORE_H
#define KVC_MODELS_KVDIRECT_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/kvdirect/table.h"
#include "models/kvdirect/dispatch.h"
#include "models/model.h"
#include "sim/workload/keys/alike.h"
#include "sim/workload/keys/sampling.h"

struct kvc_kvdirect_shard {
    struct kvc_kvdirect_table *table;
    struct kvc_kvdirect_dispatch dispatch;
    uint64_t whole_buckets;                /* Buckets of the hash index if nothing were sampled. */
    struct kvc_kvdirect_table_stats stats; /* Counters since the run began. */
};

struct kvc_kvdirect_store {
    uint32_t shard_count;
    struct kvc_kvdirect_shard *shards;
    struct kvc_sampling sampling;
    struct kvc_alike alike;  /* Only used if sampling.rate exceeds 1. */
    double utilization_frac; /* Bytes of all pairs over all memory, after preloading. */
    uint64_t refused;        /* Pairs that found no memory when preloading. */
    double preload_wall_s;
};

/* Returns the memory of the store [bytes]. */
double kvc_kvdirect_store_memory_bytes(const struct kvc_scenario *scenario);

/* Returns the memory that is needed besides while the store is filled [bytes]. */
double kvc_kvdirect_store_fill_bytes(const struct kvc_scenario *scenario);

void kvc_kvdirect_store_free(struct kvc_kvdirect_store *store); /* NULL is allowed. */

/* Creates and preloads the store of the replica with this seed, and fills the caches as a long run would.
 * Returns an error if the workload's keys cannot be read, and exits with status 3 if memory is short. */
enum kvc_status kvc_kvdirect_store_create(const struct kvc_scenario *scenario, uint64_t seed,
                                          const struct kvc_progress *progress,
                                          struct kvc_kvdirect_store **store, struct kvc_diag *diag);

/* Returns the parameters of the scenario's request source in a replica with this seed: every NIC is a shard.
 */
struct kvc_source_params kvc_kvdirect_source_of(const struct kvc_scenario *scenario, uint64_t seed);

/* Fills in the value that a key has before the run. */
void kvc_kvdirect_first_value(uint64_t hash, uint8_t *value, uint32_t bytes);

#endif
