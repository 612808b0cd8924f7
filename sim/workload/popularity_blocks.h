/* The keys of a workload from the most popular one on, in blocks inside which popularity hardly changes: what
 * sums over all keys are made of. */
#ifndef KVC_SIM_WORKLOAD_POPULARITY_BLOCKS_H
#define KVC_SIM_WORKLOAD_POPULARITY_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/workload/workload.h"
#include "sim/workload/zipf.h"

struct kvc_popularity_blocks {
    struct kvc_zipf *zipf; /* NULL: uniform, and one block */
    uint64_t keys, next;
    double mass_before;
};

struct kvc_popularity_block {
    double keys;
    double mass; /* their share of all requests */
};

/* Popularities that are neither Zipf nor uniform count as uniform. */
void kvc_popularity_blocks_open(struct kvc_popularity_blocks *blocks, const struct kvc_workload *workload);
void kvc_popularity_blocks_close(struct kvc_popularity_blocks *blocks);

/* The next block; false: there is none, and the next call gives the first one again. */
bool kvc_popularity_blocks_next(struct kvc_popularity_blocks *blocks, struct kvc_popularity_block *block);

#endif
