/* The real structures of all nodes of a replica, with their preloaded pairs: index, DRAM store and log.
 *
 * In a sampled run, the structures are smaller (config.h), and sample.h says what happens to requests. */
#ifndef KVC_MODELS_BLUECACHE_STORE_H
#define KVC_MODELS_BLUECACHE_STORE_H

#include "kernels/bluecache/store.h"
#include "models/bluecache/card.h"
#include "models/bluecache/config.h"
#include "sim/base/progress.h"
#include "sim/workload/batch.h"
#include "sim/workload/keys/sampling.h"

/* The structures of one node. */
struct kvc_bluecache_shard {
    struct kvc_bluecache_card card;
    struct kvc_bluecache_store *store;
};

struct kvc_bluecache_shards {
    struct kvc_bluecache_shard *shard;
    uint32_t shards;
    uint8_t *value; /* Room for the values of KVC_BLUECACHE_RUN_MAX requests. */
    uint64_t sets;  /* Number of SETs so far. A value begins and ends with the number of its SET. */
    uint32_t value_room;
    double preload_wall_s;
};

enum { KVC_BLUECACHE_RUN_MAX = 64 };

/* The result of a request. */
struct kvc_bluecache_done {
    bool hit;       /* The key was stored before; always true for a SET. */
    uint8_t place;  /* enum kvc_bluecache_place: where a GET looked, or where a SET put its pair. */
    uint32_t pages; /* Pages that a GET read; they are the next ones among the card's steps. */
};

/* Returns the sample of a scenario's keys that the structures hold: all keys in a full run. */
struct kvc_sampling kvc_bluecache_sampling_of(const struct kvc_scenario *scenario);

/* Returns the memory that the structures take when they hold their keys and have run this many SETs [bytes].
 */
double kvc_bluecache_store_memory_bytes(const struct kvc_scenario *scenario, double sets);

/* Returns the parameters of a node's store on a flash medium. */
struct kvc_bluecache_store_params kvc_bluecache_store_params_of(const struct kvc_bluecache_config *config,
                                                                struct kvc_flash_medium *medium,
                                                                uint64_t seed);

/* Creates and fills the structures. `*state` becomes a struct kvc_bluecache_shards. */
enum kvc_status kvc_bluecache_shards_create(const struct kvc_scenario *scenario, uint64_t seed, void **state,
                                            const struct kvc_progress *progress, struct kvc_diag *diag);

/* Runs `count` requests of one operation, at most KVC_BLUECACHE_RUN_MAX, from row `first` of the batch on. */
void kvc_bluecache_shards_run(struct kvc_bluecache_shards *shards, uint32_t number,
                              const struct kvc_batch *batch, uint32_t first, uint32_t count,
                              struct kvc_bluecache_done *done);

/* Finds the key in a row of the batch as a GET would, but changes nothing except the card's steps. */
void kvc_bluecache_shards_peek(struct kvc_bluecache_shards *shards, uint32_t number,
                               const struct kvc_batch *batch, uint32_t row, struct kvc_bluecache_done *done);

#endif
