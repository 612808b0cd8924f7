/* The hot tier of a composed store: copies of its most popular items in another memory. It is a store of its
 * own with a real index and real items, of which CLOCK evicts; the preload leaves the most popular keys in
 * it. */
#ifndef KVC_MODELS_COMPOSED_HOT_H
#define KVC_MODELS_COMPOSED_HOT_H

#include <stdint.h>

#include "models/composed/config.h"
#include "models/composed/index.h"
#include "models/composed/job.h"
#include "models/shards/store.h"
#include "sim/base/rng.h"

/* A share of recent events, of which old ones lose weight. */
struct kvc_composed_share {
    double frac;        /* The share; what it was set to before any event. */
    double known, hits; /* Recent events, and those that count. */
};

/* Adds events to a share. */
void kvc_composed_share_learn(struct kvc_composed_share *share, uint32_t events, uint32_t hits);

/* The hot tier of a shard, while a simulation uses it. */
struct kvc_composed_hot {
    const struct kvc_composed_config *config;
    struct kvc_shards *store;
    struct kvc_shard *shard;         /* NULL: the store has no hot tier, or functional = "off". */
    struct kvc_composed_lines lines; /* What operations touch that no row does. */
    struct kvc_rng outcome, admission;
    struct kvc_composed_share
        hits; /* GETs that the tier answers, of those that run through the structures. */
    struct kvc_composed_share fills; /* The same of items that are copied, of those that may be. */
    uint32_t values_position;
    uint32_t *row, *location; /* By row. */
    uint64_t *hash;
    uint8_t *result, *values;
};

/* Opens the tier of a shard for jobs of up to `rows` rows. `store` may be NULL; `hot_frac` is the closed
 * form's share of the GETs that the tier answers. */
void kvc_composed_hot_open(struct kvc_composed_hot *hot, const struct kvc_composed_config *config,
                           struct kvc_shards *store, uint32_t shard, uint32_t rows, double hot_frac,
                           uint64_t seed);
void kvc_composed_hot_close(struct kvc_composed_hot *hot);

/* Searches for the GETs of a job and marks those that the tier answers. Adds what was touched to *counts. */
void kvc_composed_hot_search(struct kvc_composed_hot *hot, struct kvc_composed_job *job,
                             struct kvc_composed_counts *counts);

/* Copies the items that GETs of a job have found elsewhere. */
void kvc_composed_hot_fill(struct kvc_composed_hot *hot, struct kvc_composed_job *job,
                           struct kvc_composed_counts *counts);

/* Takes out the keys of SETs and DELETEs. */
void kvc_composed_hot_erase(struct kvc_composed_hot *hot, struct kvc_composed_job *job,
                            struct kvc_composed_counts *counts);

/* Returns the mean lines that operations of the tier touch. What the store's index knows needs no search of
 * its own; an item that comes or goes changes the entry of its key there. */
struct kvc_composed_lines kvc_composed_hot_lines(const struct kvc_composed_config *config, double load_frac);

#endif
