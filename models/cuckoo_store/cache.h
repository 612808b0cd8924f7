/* The hit ratio of a cuckoo store that has no room for all its keys, in closed form.
 *
 * Only a SET brings a key back. It always writes a new item, and the old one stays until CLOCK finds it. The
 * hit ratio is LRU's, which CLOCK approximates (sim/workload/keys/set_cache.h). */
#ifndef KVC_MODELS_CUCKOO_STORE_CACHE_H
#define KVC_MODELS_CUCKOO_STORE_CACHE_H

#include "sim/base/diag.h"
#include "sim/workload/workload.h"

/* Returns the share of the GETs that hit in the long run, in a cache of `capacity` items under CLOCK, by
 * Che's approximation of LRU. The share is exact (1, or the preloaded share) if nothing is ever evicted. */
double kvc_cuckoo_hit_frac(const struct kvc_workload *workload, double capacity);

/* The lookup mix: the share of the GETs that miss, the share of the hits that read their item's reference
 * bit, and the share of the hits that set it (struct kvc_megakv_slab_stats). */
struct kvc_cuckoo_lookup_mix {
    double missed_frac, checked_frac, marked_frac;
};

/* Returns the lookup mix in the long run, after a few rounds of the CLOCK hand. All shares are 0 if nothing
 * is ever evicted.
 *
 * A round takes R requests, and the model follows each key through the rounds: a SET gives it a marked place
 * that the hand has just passed; its old place stays unmarked until the hand finds it, one or two rounds
 * later. The hand clears marks and evicts items without a mark, and reads set marks. R follows from the
 * capacity. */
struct kvc_cuckoo_lookup_mix kvc_cuckoo_lookup_mix_of(const struct kvc_workload *workload, double capacity);

#endif
