#include "models/megakv/cache.h"

#include <math.h>

#include "sim/workload/popularity_blocks.h"

/* Items held for a stay of `stay` requests, and the share of GETs that hit then. */
static double held(struct kvc_popularity_blocks *blocks, double set_frac, double stay, double *hit_frac)
{
    double items = set_frac * stay;
    struct kvc_popularity_block block;
    *hit_frac = 0;
    while (kvc_popularity_blocks_next(blocks, &block)) {
        double grown = expm1(block.mass / block.keys * stay);
        double present = isinf(grown) ? 1 : grown / (grown + 1 / set_frac);
        items += block.keys * present;
        *hit_frac += block.mass * present;
    }
    return items;
}

/* Share of the requests that go to the `keys` most popular keys. */
static double mass_of(const struct kvc_popularity_blocks *blocks, double keys)
{
    return blocks->zipf != NULL ? kvc_zipf_mass(blocks->zipf, (uint64_t)keys)
                                : floor(keys) / (double)blocks->keys;
}

double kvc_megakv_cache_hit_frac(const struct kvc_workload *workload, double capacity)
{
    struct kvc_popularity_blocks blocks;
    double hit_frac = 1, preloaded = floor(workload->preload_frac * (double)workload->keys);
    kvc_popularity_blocks_open(&blocks, workload);
    if (workload->set_frac <= 0) {
        hit_frac = mass_of(&blocks, fmin(preloaded, capacity));
    } else if ((double)workload->keys > capacity) {
        double low = 0, high = capacity / workload->set_frac; /* stale items alone would fill it */
        for (int i = 0; i < 100; i++) {
            double middle = (low + high) / 2;
            if (held(&blocks, workload->set_frac, middle, &hit_frac) < capacity) {
                low = middle;
            } else {
                high = middle;
            }
        }
    }
    kvc_popularity_blocks_close(&blocks);
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
static double held_by_clock(struct kvc_popularity_blocks *blocks, const struct kvc_workload *workload,
                            double round, struct kvc_megakv_lookup_mix *lookup_mix)
{
    double items = 0, reads = 0, hits = 0, marks = 0;
    struct kvc_popularity_block block;
    while (kvc_popularity_blocks_next(blocks, &block)) {
        double requests = block.mass / block.keys * round, key_reads = workload->get_frac * requests;
        struct clock_key key = key_under_clock(key_reads, workload->set_frac * requests);
        items += block.keys * (key.present + key.stale);
        reads += block.keys * key_reads;
        hits += block.keys * key_reads * key.present;
        marks += block.keys * key.marks;
    }
    if (hits > 0) {
        *lookup_mix = (struct kvc_megakv_lookup_mix){1 - hits / reads, 1, marks / hits};
    }
    return items;
}

struct kvc_megakv_lookup_mix kvc_megakv_cache_lookup_mix(const struct kvc_workload *workload, double capacity)
{
    struct kvc_megakv_lookup_mix lookup_mix = {0};
    struct kvc_popularity_blocks blocks;
    if (workload->set_frac <= 0) {
        return lookup_mix;
    }
    double low = 0, high = 4 * capacity / workload->set_frac;
    kvc_popularity_blocks_open(&blocks, workload);
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (held_by_clock(&blocks, workload, middle, &lookup_mix) < capacity) {
            low = middle;
        } else {
            high = middle;
        }
    }
    kvc_popularity_blocks_close(&blocks);
    return lookup_mix;
}
