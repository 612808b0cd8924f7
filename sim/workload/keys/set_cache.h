/** @file
 * Estimates which keys are in a cache that only SETs fill, in the long run: Che's approximation (Che, Tung,
 * Wang, IEEE JSAC 20(7), 2002), for LRU and for a victim that is the oldest of a few random items.
 *
 * A SET writes a new item. The key's old item stays as a dead item until it is a victim. A GET resets the age
 * of its item and does not bring back an evicted key, and a DELETE leaves a dead item. When the cache is
 * full, every SET evicts an item.
 *
 * An item of age a, counted in requests since its last one, is still there with a probability S(a) that is
 * the same for all items; that is the approximation. With LRU, S falls from 1 to 0 at the age T. With the
 * oldest of m random items, an item is evicted at the rate s/N m F(a)^(m-1), where s is the share of SETs, N
 * the number of items, and F(a) the share of items that are younger (as Psounis and Prabhakar, IEEE INFOCOM
 * 2001, choose victims). T or S follows from N: the items of all ages add up to it. Not modelled: arrivals
 * that depend on one another, and items of several sizes. */
#ifndef KVC_SIM_WORKLOAD_KEYS_SET_CACHE_H
#define KVC_SIM_WORKLOAD_KEYS_SET_CACHE_H

#include <stdint.h>

#include "sim/workload/keys/popularity_blocks.h"
#include "sim/workload/workload.h"

/** Keys of about the same popularity. */
struct kvc_set_cache_block {
    struct kvc_popularity_block keys; /**< Number of keys, and their share of all requests. */
    double present;                   /**< Share of the time in which each of them is in the cache. */
};

/** The keys in the cache. */
struct kvc_set_cache {
    struct kvc_set_cache_block *block; /**< Blocks in descending order of popularity. */
    uint32_t blocks;                   /**< Number of blocks. */
    double hit_frac;                   /**< Share of the GETs that find their key. */
};

/** Lists the keys of a workload in blocks, with none of them present. Exits with status 3 if memory is short.
 */
void kvc_set_cache_list(struct kvc_set_cache *cache, const struct kvc_workload *workload);

/** Estimates the contents of a cache of `capacity` items, above 0, under a workload with SETs. The victim is
 * the oldest of `samples` random items; 0: of all (LRU). Exits with status 3 if memory is short. */
void kvc_set_cache_open(struct kvc_set_cache *cache, const struct kvc_workload *workload, double capacity,
                        uint32_t samples);

/** Frees the blocks. */
void kvc_set_cache_close(struct kvc_set_cache *cache);

#endif
