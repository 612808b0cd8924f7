#include "models/shards/cache.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"

enum { SLOTS = 20000, KEYS = 19000, STALE = -1, ABSENT = -1, SETTLING_ROUNDS = 12, REQUESTS = 2000000 };

/* A store with CLOCK, simulated one request at a time. A SET takes a new place, and the item that it replaces
 * stays until the hand finds it. */
struct clock_store {
    int slot[SLOTS]; /* By place: the key in it. */
    int place[KEYS]; /* By key: its place. */
    bool marked[SLOTS];
    int hand;
};

static void set(struct clock_store *store, int key)
{
    while (store->marked[store->hand]) {
        store->marked[store->hand] = false;
        store->hand = (store->hand + 1) % SLOTS;
    }
    int slot = store->hand;
    store->hand = (slot + 1) % SLOTS;
    if (store->slot[slot] != STALE) {
        store->place[store->slot[slot]] = ABSENT;
    }
    if (store->place[key] != ABSENT) {
        store->slot[store->place[key]] = STALE;
    }
    store->slot[slot] = key;
    store->place[key] = slot;
    store->marked[slot] = true;
}

static struct kvc_shards_lookup_mix simulate(double set_frac)
{
    struct clock_store *store = calloc(1, sizeof(*store));
    struct kvc_rng rng;
    double gets = 0, hits = 0, marked = 0;
    cr_assert_not_null(store);
    memset(store->slot, 0xff, sizeof(store->slot));
    memset(store->place, 0xff, sizeof(store->place));
    kvc_rng_init(&rng, 1, "cache_test", 0);
    for (int key = 0; key < KEYS; key++) {
        set(store, key);
    }
    for (int i = -SETTLING_ROUNDS * SLOTS / 2; i < REQUESTS; i++) {
        int key = (int)kvc_rng_below(&rng, KEYS), place = store->place[key];
        if (kvc_rng_unit(&rng) < set_frac) {
            set(store, key);
            continue;
        }
        gets += i >= 0;
        if (place == ABSENT) {
            continue;
        }
        hits += i >= 0;
        marked += i >= 0 && !store->marked[place];
        store->marked[place] = true;
    }
    free(store);
    return (struct kvc_shards_lookup_mix){1 - hits / gets, 1, marked / hits};
}

/* The closed form uses means where single events alternate, so it is not exact. */
Test(cache, lookup_mix_is_that_of_a_clock)
{
    const double set_fracs[] = {0.05, 0.2, 0.5};
    for (int i = 0; i < 3; i++) {
        struct kvc_workload workload = {.keys = KEYS,
                                        .get_frac = 1 - set_fracs[i],
                                        .set_frac = set_fracs[i],
                                        .popularity = KVC_POPULARITY_UNIFORM};
        struct kvc_shards_lookup_mix found = simulate(set_fracs[i]),
                                     expected = kvc_shards_lookup_mix_of(&workload, SLOTS);
        cr_expect_float_eq(expected.missed_frac, found.missed_frac, 0.05, "%g SETs: misses %.3f, %.3f",
                           set_fracs[i], expected.missed_frac, found.missed_frac);
        cr_expect_float_eq(expected.marked_frac, found.marked_frac, 0.05, "%g SETs: marks %.3f, %.3f",
                           set_fracs[i], expected.marked_frac, found.marked_frac);
        cr_expect_eq(expected.checked_frac, 1);
    }
}

Test(cache, nothing_is_found_amiss_without_sets)
{
    const struct kvc_workload workload = {
        .keys = KEYS, .get_frac = 1, .popularity = KVC_POPULARITY_ZIPF, .zipf_s = 0.99};
    struct kvc_shards_lookup_mix lookup_mix = kvc_shards_lookup_mix_of(&workload, SLOTS);
    cr_expect_eq(lookup_mix.missed_frac + lookup_mix.checked_frac + lookup_mix.marked_frac, 0);
}
