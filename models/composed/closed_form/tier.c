#include "models/composed/closed_form/tier.h"

#include <math.h>

#include "models/shards/cache.h"
#include "sim/workload/keys/popularity_blocks.h"
#include "sim/workload/keys/reuse.h"
#include "sim/workload/keys/set_cache.h"

/* In a cycle, the key is missing until a GET comes, and its copy does. Copies of the GETs that missed
 * meanwhile come for as long again, and each brings back what a change has taken away. Then the key stays
 * until the next change. Requests of a batch look and change at the same time, so that several count as one.
 */
double kvc_composed_tier_present(const struct kvc_composed_tier_key *key)
{
    double every = key->every, gets = key->taken, changes = key->changed;
    if (every > 0) {
        gets = -expm1(-gets * every) / every;
        changes = -expm1(-changes * every) / every;
    }
    if (gets <= 0) {
        return 0;
    }
    double late = fmax(key->takes - every / 2, 0); /* The next look is up to a batch later. */
    double renewed = gets / (gets + changes * (1 - gets * every));
    return (1 + changes * late * renewed) / (1 + changes / gets + 2 * changes * late);
}

/* Returns the mean of exp(-t) for t from 0 to `until`. */
static double mean_left(double until)
{
    return until > 0 ? -expm1(-until) / until : 1;
}

/* The preload leaves the most popular keys in the tier. A GET brings a key back that was changed, and CLOCK
 * keeps about what LRU would, so that what one finds is what was asked for recently, and not changed. */
double kvc_composed_hot_frac(const struct kvc_scenario *scenario, double hit_frac, double per_ns,
                             const struct kvc_composed_copying *copying)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    bool fills = (kvc_composed_does(config) & KVC_COMPOSED_HOT_FILL) != 0;
    double items = config->hot_items * config->shards, all_per_ns = per_ns * config->shards, hots = 0;
    double taken = fills ? workload->get_frac * config->options->hot.admit : 0,
           changed = workload->set_frac + workload->delete_frac;
    if (!config->has_hot || workload->get_frac <= 0) {
        return 0;
    }
    if (workload->arrival == KVC_ARRIVAL_TRACE) {
        double share = kvc_shards_hit_frac(workload, INFINITY, items);
        return fmin(share * taken / fmax(taken + changed, 1e-300), hit_frac);
    }
    double kept = 0; /* Requests after which CLOCK evicts a key that nobody asked for. */
    if (taken > 0) { /* Keys that were changed leave their room to others. */
        const struct kvc_reuse reuse = {.bytes_per_key = 1, .footprint_bytes = (double)workload->keys};
        kept = fmin(kvc_reuse_requests(workload, &reuse, items * (taken + changed) / taken), 1e300);
    }
    double popular = kvc_popularity_mass(workload, items), left = items;
    double evicts = fmax(taken * (1 - popular) - changed * popular, 0) / items;
    double before = all_per_ns * fmax(scenario->run.warmup_ns, 0), /* Requests until the measured time. */
        measured = all_per_ns * scenario->run.duration_ns;
    struct kvc_set_cache keys;
    kvc_set_cache_list(&keys, workload);
    for (uint32_t j = 0; j < keys.blocks; j++) {
        const struct kvc_popularity_block *block = &keys.block[j].keys;
        double preloaded = fmin(fmax(left, 0) / block->keys, 1), each = block->mass / block->keys;
        const struct kvc_composed_tier_key key = {
            .taken = taken,
            .changed = changed,
            .takes = copying != NULL ? each * all_per_ns * copying->takes_ns : 0,
            .every = copying != NULL ? each * all_per_ns * copying->every_ns : 0};
        double present = -hit_frac * kvc_composed_tier_present(&key) * expm1(-each * kept);
        double leaves = (taken + changed) * each + evicts; /* Preloaded ones, as a share of a request. */
        double left_frac = exp(-leaves * before) * mean_left(leaves * measured);
        hots += block->mass * (present + (preloaded - present) * left_frac);
        left -= block->keys;
    }
    kvc_set_cache_close(&keys);
    return fmin(hots, hit_frac);
}
