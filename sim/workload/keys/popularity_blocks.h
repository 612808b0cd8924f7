/** @file
 * Iterates over the keys of a workload in descending order of popularity, in blocks of keys with nearly equal
 * popularity. A sum over all keys becomes a sum over at most 1300 blocks.
 *
 * For a Zipf distribution, a block is 1/64 of its first rank wide; the first 128 ranks are blocks of one key.
 * A uniform workload is a single block. With actions, these are blocks of members, and each becomes a block
 * for every kind of their keys; popularity descends from member to member. Blocks of several tenants are
 * those of sim/workload/keys/tenant_keys.h. */
#ifndef KVC_SIM_WORKLOAD_KEYS_POPULARITY_BLOCKS_H
#define KVC_SIM_WORKLOAD_KEYS_POPULARITY_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/workload/workload.h"
#include "sim/workload/keys/zipf_sums.h"

struct kvc_tenant_keys;

/** An iterator over blocks. */
struct kvc_popularity_blocks {
    struct kvc_zipf_sums *zipf;            /**< Sums of the distribution; NULL if it is none of Zipf's. */
    const struct kvc_tenant_keys *tenants; /**< Blocks of the keys of several tenants, or NULL. */
    double zipf_sum;                       /**< Sum over all members. */
    uint32_t block;                        /**< Number of the next block. */
    struct kvc_action_mix actions;         /**< Actions that the requests stand for. */
    double update_frac;                    /**< Share of the requests that update or delete. */
    uint64_t keys;                         /**< Keys of the workload. */
    uint64_t members;                      /**< Members of the workload; without actions, keys. */
    uint64_t first;                        /**< First member of the present block. */
    uint64_t next;                         /**< First member of the next block. */
    uint32_t kind;                         /**< The next kind of the present block; 0: it begins a new one. */
    double mass;                           /**< Share of all requests that the present block receives. */
    double mass_before;                    /**< Share of all requests that the blocks up to it receive. */
};

/** One block. */
struct kvc_popularity_block {
    double keys;    /**< Number of keys in the block. */
    double mass;    /**< Their share of the GETs, 0 to 1; without actions, of all requests. */
    double updates; /**< Mean number of them that a request invalidates, with a database. */
};

/** Starts an iteration. */
void kvc_popularity_blocks_open(struct kvc_popularity_blocks *blocks, const struct kvc_workload *workload);

/** Frees the contents of the iterator, not the struct. */
void kvc_popularity_blocks_close(struct kvc_popularity_blocks *blocks);

/** Returns the next block in `*block`. After the last block, returns false; the next call starts again with
 * the first block. */
bool kvc_popularity_blocks_next(struct kvc_popularity_blocks *blocks, struct kvc_popularity_block *block);

/** Returns the share of all requests that the `keys` most popular keys receive; keys of a block are equally
 * popular. */
double kvc_popularity_mass(const struct kvc_workload *workload, double keys);

#endif
