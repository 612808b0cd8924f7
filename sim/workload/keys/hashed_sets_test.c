#include "sim/workload/keys/hashed_sets.h"

#include <criterion/criterion.h>

#include "sim/base/rng.h"
#include "sim/workload/keys/popularity_blocks.h"

enum { SETS = 4096, WAYS = 4, KEYS = 20000 };

/* Every set keeps the first of its keys, which are the most popular ones. */
Test(hashed_sets, keep_what_a_table_keeps)
{
    static int used[SETS];
    const struct kvc_workload workload = {
        .keys = KEYS, .get_frac = 1, .popularity = KVC_POPULARITY_ZIPF, .zipf_s = 0.8};
    struct kvc_rng rng;
    double held = 0, hit_frac = 0, before = 0;
    kvc_rng_init(&rng, 1, "hashed_sets_test", 0);
    for (int key = 0; key < KEYS; key++) {
        double mass = kvc_popularity_mass(&workload, key + 1);
        bool kept = used[kvc_rng_below(&rng, SETS)]++ < WAYS;
        held += kept;
        hit_frac += kept ? mass - before : 0;
        before = mass;
    }
    cr_expect_float_eq(kvc_hashed_sets_held(KEYS, SETS, WAYS), held, 0.01 * KEYS);
    cr_expect_float_eq(kvc_hashed_sets_hit_frac(&workload, KEYS, SETS, WAYS), hit_frac, 0.01);
    cr_expect_float_eq(kvc_hashed_sets_hit_frac(&workload, KEYS / 2, SETS * 64, WAYS),
                       kvc_popularity_mass(&workload, KEYS / 2), 0.001, "room for all");
}

Test(hashed_sets, the_default_loses_one_key_in_a_thousand)
{
    const double ways[] = {1, 4, 8, 15, 16}, keys = 1e6;
    for (int i = 0; i < 5; i++) {
        double sets = kvc_hashed_sets_for(keys, ways[i]);
        cr_expect_geq(kvc_hashed_sets_held(keys, sets, ways[i]), 0.999 * keys);
        cr_expect_lt(kvc_hashed_sets_held(keys, sets / 2, ways[i]), 0.999 * keys);
    }
}
