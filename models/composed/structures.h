/* The real index and values of a composed store, and what the operations of a stage do on them for a batch.
 */
#ifndef KVC_MODELS_COMPOSED_STRUCTURES_H
#define KVC_MODELS_COMPOSED_STRUCTURES_H

#include <stdbool.h>
#include <stdint.h>

#include "models/composed/config.h"
#include "models/composed/hot.h"
#include "models/composed/index.h"
#include "models/composed/job.h"
#include "sim/base/rng.h"
#include "sim/workload/source/source.h"

enum { KVC_COMPOSED_COMING = 32 /* Requests whose lines are fetched together. */ };

/* The structures of a shard, while a simulation uses them. */
struct kvc_composed_structures {
    const struct kvc_composed_config *config;
    struct kvc_shards *store;
    struct kvc_shard *shard; /* NULL: the store has no structures, or functional = "off". */
    const struct kvc_source *source;
    struct kvc_composed_lines lines; /* Mean lines of operations that do not run through the structures. */
    struct kvc_rng thinning, outcome;
    struct kvc_composed_hot hot;
    struct kvc_composed_share hits; /* GETs that ran through the structures, without those of the hot tier. */
    struct kvc_composed_writes now; /* What the batch at hand inserts and erases. */
    uint32_t rows_room;             /* Rows that the following arrays have room for. */
    uint32_t *row, *location;
    uint64_t *hash;
    uint8_t *result, *values;
    uint32_t values_position;
    uint64_t calls, ticks; /* Calls for few requests, and ticks spent in the structures. */
    uint32_t coming;       /* Entries of the following array. */
    uint64_t coming_hash[KVC_COMPOSED_COMING]; /* Hashes of requests that have not reached the structures. */
};

/* The stores of a scenario; NULL: there is none. */
struct kvc_composed_stores {
    struct kvc_shards *store, *hot;
};

/* What the closed form tells: the shares of the GETs that hit, and that the hot tier answers. */
struct kvc_composed_expected {
    double hit_frac, hot_frac;
    double load_frac; /* How full the index is. */
};

/* Opens the structures of a shard. */
void kvc_composed_structures_open(struct kvc_composed_structures *structures,
                                  const struct kvc_composed_config *config,
                                  const struct kvc_composed_stores *stores, uint32_t shard,
                                  const struct kvc_source *source,
                                  const struct kvc_composed_expected *expected, uint64_t seed);
void kvc_composed_structures_close(struct kvc_composed_structures *structures);

/* Marks the rows `first` to count - 1 of a job that run through the structures. */
void kvc_composed_structures_keep(struct kvc_composed_structures *structures, struct kvc_composed_job *job,
                                  uint32_t first);

/* Notes that the requests of a job, which operations will serve one by one, are on their way. */
void kvc_composed_structures_expect(struct kvc_composed_structures *structures,
                                    const struct kvc_composed_job *job);

/* Brings the lines of these requests into the cache of the machine that simulates. Batches of an operation do
 * so themselves; single requests would wait for each line. */
void kvc_composed_structures_fetch(struct kvc_composed_structures *structures);

/* Does the operations `does` (bits of enum kvc_composed_does) for a batch, and sets in *counts what they
 * touched. Without `writes`, inserts and erases are those of the batch. Otherwise they are added to it if
 * they are not `due`, and all that it has is done if they are. */
void kvc_composed_execute(struct kvc_composed_structures *structures, struct kvc_composed_job *job,
                          uint32_t does, struct kvc_composed_writes *writes, bool due,
                          struct kvc_composed_counts *counts);

#endif
