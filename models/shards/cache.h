/* The hit ratio of a store that has no room for all its keys, in closed form.
 *
 * Only a SET brings a key back. It always writes a new item, and the old one stays until CLOCK finds it. The
 * hit ratio is LRU's, which CLOCK approximates (sim/workload/keys/set_cache.h). */
#ifndef KVC_MODELS_SHARDS_CACHE_H
#define KVC_MODELS_SHARDS_CACHE_H

#include "sim/base/diag.h"
#include "sim/workload/keys/set_cache.h"
#include "sim/workload/workload.h"

/* Finds the keys of an index that has fewer slots than there are keys, all shards together, in the long run.
 *
 * A SET of a missing key pushes elements from slot to slot until one finds no place. After many random moves,
 * this may be any element, whatever its popularity, so that a key is present for s / (s + d + r) of the time,
 * with its rates s of SETs, d of DELETEs, and the rate r of drops, the same for all keys. r follows from the
 * number of slots, all of which are in use. Without SETs, the most popular keys that fit are present.
 * kvc_set_cache_close() frees the keys. */
void kvc_shards_full_index_open(struct kvc_set_cache *keys, const struct kvc_workload *workload,
                                double slots);

/* Returns the share of the GETs that hit in the long run, in an index of `slots` slots and slabs of `items`
 * items. Slabs that have room for fewer keys evict by CLOCK, for which the share is Che's approximation of
 * LRU; an index that has drops any of them. A trace whose misses clients fill has LRU's share of its own. The
 * share is exact (1, or the preloaded share) if nothing is lost. */
double kvc_shards_hit_frac(const struct kvc_workload *workload, double slots, double items);

/* The lookup mix: the share of the GETs that miss, the share of the hits that read their item's reference
 * bit, and the share of the hits that set it (struct kvc_megakv_slab_stats). */
struct kvc_shards_lookup_mix {
    double missed_frac, checked_frac, marked_frac;
};

/* Returns the lookup mix in the long run, after a few rounds of the CLOCK hand. All shares are 0 if nothing
 * is ever evicted.
 *
 * A round takes R requests, and the model follows each key through the rounds: a SET gives it a marked place
 * that the hand has just passed; its old place stays unmarked until the hand finds it, one or two rounds
 * later. The hand clears marks and evicts items without a mark, and reads set marks. R follows from the
 * capacity. */
struct kvc_shards_lookup_mix kvc_shards_lookup_mix_of(const struct kvc_workload *workload, double capacity);

#endif
