/* Hit ratio of a store that is smaller than its keys, in closed form.
 *
 * Che's approximation (Che, Tung and Wang, IEEE JSAC 20(7), 2002) for what CLOCK approximates, LRU: an item
 * stays for a time T after its last request. In Mega-KV a key comes back only by a SET, which always writes a
 * new item; the old one stays until CLOCK finds it. With request rate r_i and share s of SETs, key i is
 * present a share (e^(r_i T) - 1) / (e^(r_i T) - 1 + 1/s) of the time, and items that were replaced take up
 * s*T more. T follows from the capacity. */
#ifndef KVC_MODELS_MEGAKV_CACHE_H
#define KVC_MODELS_MEGAKV_CACHE_H

#include "sim/base/diag.h"
#include "sim/workload/workload.h"

/* Share of the GETs that hit in the long run, in a cache of `capacity` items under CLOCK, by Che's
 * approximation of LRU. Exact (1, or the preloaded share) if nothing is ever evicted. */
double kvc_megakv_cache_hit_frac(const struct kvc_workload *workload, double capacity);

/* What GETs find: misses; and of the hits those that had to look at their item's reference bit, and those
 * that set it (see kvc_megakv_slab_stats). */
struct kvc_megakv_lookup_mix {
    double missed_frac, checked_frac, marked_frac;
};

/* In the long run, which a store comes to once the CLOCK hand has gone round a few times. It does so in R
 * requests, and every key is followed through the rounds: a SET gives it a marked place behind the hand and
 * leaves the old one to be found unmarked, in a round or two; the hand clears marks and evicts what has none;
 * reads set them. R follows from the capacity. All 0 where nothing is ever evicted. */
struct kvc_megakv_lookup_mix kvc_megakv_cache_lookup_mix(const struct kvc_workload *workload,
                                                         double capacity);

#endif
