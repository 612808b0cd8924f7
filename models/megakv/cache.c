#include "models/megakv/cache.h"

#include <math.h>

#include "sim/workload/zipf.h"

/* Ranks are taken in blocks, each 1/64 of its first rank wide, inside which popularity hardly changes. */
struct popularity {
    const struct kvc_zipf *zipf; /* NULL: uniform */
    uint64_t keys;
};

static double mass(const struct popularity *popularity, uint64_t k)
{
    return popularity->zipf != NULL ? kvc_zipf_mass(popularity->zipf, k)
                                    : (double)k / (double)popularity->keys;
}

/* Items held for a stay of `stay` requests, and the share of GETs that hit then. */
static double held(const struct popularity *popularity, double set_frac, double stay, double *hit_frac)
{
    double items = set_frac * stay, hits = 0, below = 0;
    for (uint64_t first = 0; first < popularity->keys;) {
        uint64_t width = first / 64 > 0 ? first / 64 : 1;
        uint64_t last = first + width < popularity->keys ? first + width : popularity->keys;
        double above = mass(popularity, last), share = above - below, keys = (double)(last - first);
        double grown = expm1(share / keys * stay);
        double present = isinf(grown) ? 1 : grown / (grown + 1 / set_frac);
        items += keys * present;
        hits += share * present;
        below = above;
        first = last;
    }
    *hit_frac = hits;
    return items;
}

double kvc_megakv_cache_hit_frac(const struct kvc_workload *workload, double capacity)
{
    struct kvc_zipf *zipf = workload->popularity == KVC_POPULARITY_ZIPF
                                ? kvc_zipf_create(workload->keys, workload->zipf_s)
                                : NULL;
    struct popularity popularity = {zipf, workload->keys};
    double hit_frac = 1, preloaded = floor(workload->preload_frac * (double)workload->keys);
    if (workload->set_frac <= 0) {
        hit_frac = mass(&popularity, (uint64_t)fmin(preloaded, capacity));
    } else if ((double)workload->keys > capacity) {
        double low = 0, high = capacity / workload->set_frac; /* stale items alone would fill it */
        for (int i = 0; i < 100; i++) {
            double middle = (low + high) / 2;
            if (held(&popularity, workload->set_frac, middle, &hit_frac) < capacity)
                low = middle;
            else
                high = middle;
        }
    }
    kvc_zipf_free(zipf);
    return hit_frac;
}
