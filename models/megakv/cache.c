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

/* What becomes of one key while the hand goes round once; see the header. */
struct clock_key {
    double present; /* share of the time */
    double stale;   /* places of old items of its, on average */
    double marks;   /* reads that set the reference bit */
};

/* A SET gives the key a place behind the hand, marked: for one round nothing happens to it. In every further
 * round it lives as long as it was read in the one before; unmarked, a read marks it. */
static struct clock_key key_under_clock(double reads, double sets)
{
    double no_set = exp(-sets), read = -expm1(-reads), neither = -expm1(-(reads + sets)) / (reads + sets);
    double rounds = no_set / (1 - no_set * read); /* further ones that it lives to see, before the next SET */
    double first_stale = (1 - no_set) * 2 + no_set + expm1(-sets) / sets;
    return (struct clock_key){
        .present = (1 - no_set) * (1 + rounds),
        .stale = sets * (first_stale + rounds * (first_stale - sets * neither)),
        .marks = reads * rounds * sets * neither,
    };
}

/* Items held when the hand goes round in `round` requests, and what GETs find then. */
static double held_by_clock(const struct popularity *popularity, const struct kvc_workload *workload,
                            double round, struct kvc_megakv_finds *finds)
{
    double items = 0, reads = 0, hits = 0, marks = 0, below = 0;
    for (uint64_t first = 0; first < popularity->keys;) {
        uint64_t width = first / 64 > 0 ? first / 64 : 1;
        uint64_t last = first + width < popularity->keys ? first + width : popularity->keys;
        double above = mass(popularity, last), keys = (double)(last - first);
        double requests = (above - below) / keys * round, key_reads = workload->get_frac * requests;
        struct clock_key key = key_under_clock(key_reads, workload->set_frac * requests);
        items += keys * (key.present + key.stale);
        reads += keys * key_reads;
        hits += keys * key_reads * key.present;
        marks += keys * key.marks;
        below = above;
        first = last;
    }
    if (hits > 0)
        *finds = (struct kvc_megakv_finds){1 - hits / reads, 1, marks / hits};
    return items;
}

struct kvc_megakv_finds kvc_megakv_cache_finds(const struct kvc_workload *workload, double capacity)
{
    struct kvc_megakv_finds finds = {0};
    if (workload->set_frac <= 0)
        return finds;
    struct kvc_zipf *zipf = workload->popularity == KVC_POPULARITY_ZIPF
                                ? kvc_zipf_create(workload->keys, workload->zipf_s)
                                : NULL;
    struct popularity popularity = {zipf, workload->keys};
    double low = 0, high = 4 * capacity / workload->set_frac;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (held_by_clock(&popularity, workload, middle, &finds) < capacity)
            low = middle;
        else
            high = middle;
    }
    kvc_zipf_free(zipf);
    return finds;
}
