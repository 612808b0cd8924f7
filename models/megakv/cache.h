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

/* Share of GETs that hit in the long run, over `capacity` items. Exact (1, or the preloaded share) where
 * nothing is ever evicted. */
double kvc_megakv_cache_hit_frac(const struct kvc_workload *workload, double capacity);

#endif
