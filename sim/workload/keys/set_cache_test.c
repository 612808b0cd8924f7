#include "sim/workload/keys/set_cache.h"
#include "sim/workload/keys/zipf.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "sim/base/rng.h"

enum { KEYS = 10000, SAMPLES = 4, REQUESTS = 800000, ABSENT = -1 };

/* A cache that is filled by SETs, one request at a time. */
struct cache {
    int items, used;
    int place[KEYS];         /* Indexed by key. */
    int key[KEYS], at[KEYS]; /* By place: its key and its last request. */
};

static int victim_of(const struct cache *cache, struct kvc_rng *rng)
{
    int victim = ABSENT;
    for (int i = 0; i < SAMPLES; i++) {
        int drawn = (int)kvc_rng_below(rng, (uint64_t)cache->items);
        victim = victim == ABSENT || cache->at[drawn] < cache->at[victim] ? drawn : victim;
    }
    return victim;
}

static void set(struct cache *cache, int key, int now, struct kvc_rng *rng)
{
    int place = cache->used < cache->items ? cache->used++ : victim_of(cache, rng);
    if (cache->key[place] != ABSENT && cache->place[cache->key[place]] == place) {
        cache->place[cache->key[place]] = ABSENT;
    }
    cache->key[place] = key;
    cache->at[place] = now;
    cache->place[key] = place;
}

/* Returns the share of GETs that hit in the second half of the requests. */
static double simulate(const struct kvc_workload *workload, int items)
{
    struct cache *cache = calloc(1, sizeof(*cache));
    struct kvc_rng rng;
    struct kvc_zipf *zipf = kvc_zipf_create(KEYS, workload->zipf_s > 0 ? workload->zipf_s : 1);
    double gets = 0, hits = 0;
    cr_assert(cache != NULL && zipf != NULL);
    cache->items = items;
    for (int i = 0; i < KEYS; i++) {
        cache->place[i] = cache->key[i] = ABSENT;
    }
    kvc_rng_init(&rng, 1, "set_cache_test", 0);
    for (int now = 0; now < REQUESTS; now++) {
        bool uniform = workload->popularity == KVC_POPULARITY_UNIFORM;
        uint64_t rank;
        kvc_zipf_fill(zipf, &rng, &rank, 1);
        int key = (int)(uniform ? kvc_rng_below(&rng, KEYS) : rank);
        double what = kvc_rng_unit(&rng);
        int place = cache->place[key];
        if (what < workload->set_frac) {
            set(cache, key, now, &rng);
        } else if (what < workload->set_frac + workload->delete_frac) {
            cache->place[key] = ABSENT;
        } else {
            gets += now >= REQUESTS / 2;
            hits += now >= REQUESTS / 2 && place != ABSENT;
            if (place != ABSENT) {
                cache->at[place] = now;
            }
        }
    }
    kvc_zipf_free(zipf);
    free(cache);
    return hits / gets;
}

/* The approximation assumes independent requests, for which it is within a point of the simulated cache. LRU
 * differs from the oldest of four by up to four points here. */
Test(set_cache, hits_are_those_of_a_cache_with_random_victims)
{
    const double set_fracs[] = {0.1, 0.5, 0.3}, delete_fracs[] = {0, 0, 0.05};
    const int items[] = {1000, 2500, 6000};
    double farthest = 0;
    for (int i = 0; i < 18; i++) {
        struct kvc_workload workload = {.keys = KEYS,
                                        .set_frac = set_fracs[i % 3],
                                        .delete_frac = delete_fracs[i % 3],
                                        .popularity = i < 9 ? KVC_POPULARITY_UNIFORM : KVC_POPULARITY_ZIPF,
                                        .zipf_s = 0.99};
        workload.get_frac = 1 - workload.set_frac - workload.delete_frac;
        int size = items[i / 3 % 3];
        struct kvc_set_cache cache, lru;
        kvc_set_cache_open(&cache, &workload, size, SAMPLES);
        kvc_set_cache_open(&lru, &workload, size, 0);
        double found = simulate(&workload, size);
        cr_expect_float_eq(cache.hit_frac, found, 0.01, "%s, %d items, %g SETs: %.4f, simulated %.4f",
                           i < 9 ? "uniform" : "zipf", size, workload.set_frac, cache.hit_frac, found);
        farthest = fmax(farthest, fabs(lru.hit_frac - found));
        kvc_set_cache_close(&cache);
        kvc_set_cache_close(&lru);
    }
    cr_expect(farthest > 0.03 && farthest < 0.05, "%.4f", farthest);
}
