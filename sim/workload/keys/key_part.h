/** @file
 * The keys of one node of a cluster, for a node that is simulated on its own.
 *
 * A part lists the keys that the hash ring gives to a node (sim/workload/keys/hash_ring.h), in ascending
 * order of their ids, which is their order of popularity. A workload with a part (struct kvc_workload) is the
 * load of its node: its key i is key[i] of the whole workload, with the bytes and sizes of that key, and its
 * popularity relative to the node's other keys is the same as in the whole workload. Its rates are the
 * node's, in the epoch in which its share is largest: if each request of a Poisson process belongs to the
 * node with the same probability, the node's requests form a Poisson process with that share of the rate
 * (thinning; Kingman, Poisson Processes, 1993, sec. 5.1). If requests have equal distances, each belongs to
 * the node with that probability.
 *
 * Nodes that join and leave change the keys of the others. A part therefore has epochs, in each of which the
 * node owns some of its keys and receives a share of all requests. Its store begins with the keys of epoch 0.
 * Frames leave in the order in which they are full, so that around a change, the requests in the open frames
 * of clients may be for keys of the other epoch. */
#ifndef KVC_SIM_WORKLOAD_KEYS_KEY_PART_H
#define KVC_SIM_WORKLOAD_KEYS_KEY_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/rng.h"

enum { KVC_KEY_EPOCHS_MAX = 64 /**< Epochs of a part. */ };

/** The keys and requests of a node from one change to the next. */
struct kvc_key_epoch {
    double from_ns; /**< When the epoch begins [ns of simulated time]. */
    double share;   /**< Share of all requests that the node answers, 0 to 1. */
    double lost;    /**< Share of all requests that are sent to the node while it is dead. */
    uint64_t keys;  /**< Keys that it owns. */
};

/** The keys of a node. */
struct kvc_key_part {
    uint64_t count;      /**< Keys that the node owns in any epoch. */
    const uint32_t *key; /**< Ids of the keys, ascending. */
    const uint64_t
        *owned;      /**< Bit e of entry i: the node owns key[i] in epoch e. NULL: there is one epoch. */
    uint32_t epochs; /**< Used entries of `epoch`, at least 1. */
    /** Epochs in the order of time; the first one begins at 0. */
    struct kvc_key_epoch epoch[KVC_KEY_EPOCHS_MAX];
};

/** Returns the largest share that the node has in an epoch. */
static inline double kvc_key_part_share_max(const struct kvc_key_part *part)
{
    double most = 0;
    for (uint32_t e = 0; e < part->epochs; e++) {
        most = part->epoch[e].share > most ? part->epoch[e].share : most;
    }
    return most;
}

/** Draws keys of a part by their popularity. */
struct kvc_part_sampler;

/** Sets up the draws of a part in an epoch in which it owns a key. `s` is the exponent of the popularity; 0:
 * all keys are equally popular. Returns NULL if memory is short.
 *
 * Draws are exact and take constant time. The keys are cut into blocks in which the rank in the whole
 * workload grows by at most 1/64; an alias table selects a block by the area under the popularity of its
 * first key, a uniform draw selects a key in the block, and the key is accepted with the ratio of its
 * popularity to the first key's, as in sim/workload/keys/zipf.h. */
struct kvc_part_sampler *kvc_part_sampler_create(const struct kvc_key_part *part, double s, uint32_t epoch);

/** Frees a sampler. NULL is allowed. */
void kvc_part_sampler_free(struct kvc_part_sampler *sampler);

/** Draws `count` keys as numbers within the part: i stands for part->key[i]. */
void kvc_part_sampler_fill(const struct kvc_part_sampler *sampler, struct kvc_rng *rng, uint64_t *number,
                           size_t count);

#endif
