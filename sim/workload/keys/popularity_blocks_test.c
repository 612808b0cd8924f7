#include "sim/workload/keys/popularity_blocks.h"
#include "sim/workload/keys/zipf.h"

#include <criterion/criterion.h>
#include <math.h>

enum { KEYS = 100000 };

/* Blocks of equal keys err by less than the width of a block, 1/64 of its first rank. */
Test(popularity_blocks, the_most_popular_keys_have_their_share_of_zipf)
{
    const struct kvc_workload workload = {.keys = KEYS, .popularity = KVC_POPULARITY_ZIPF, .zipf_s = 0.99};
    double all = 0, sum = 0;
    for (int rank = 1; rank <= KEYS; rank++) {
        all += pow(rank, -0.99);
    }
    for (int rank = 1; rank <= KEYS; rank++) {
        sum += pow(rank, -0.99);
        if (rank == 1 || rank == 100 || rank == 7777 || rank == KEYS) {
            double mass = kvc_popularity_mass(&workload, rank);
            cr_expect_float_eq(mass, sum / all, 1e-4, "%d keys: %.6f, not %.6f", rank, mass, sum / all);
        }
    }
}

Test(popularity_blocks, uniform_keys_have_equal_shares)
{
    const struct kvc_workload workload = {.keys = KEYS, .popularity = KVC_POPULARITY_UNIFORM};
    double quarter = kvc_popularity_mass(&workload, KEYS / 4.0);
    double none = kvc_popularity_mass(&workload, 0), more = kvc_popularity_mass(&workload, 2.0 * KEYS);
    cr_expect_float_eq(quarter, 0.25, 1e-12);
    cr_expect_eq(none, 0);
    cr_expect_eq(more, 1);
}

/* More exponents than a thread keeps are iterated over at the same time. */
Test(popularity_blocks, iterations_over_many_exponents_do_not_disturb_each_other)
{
    enum { EXPONENTS = 40 };
    struct kvc_popularity_blocks blocks[EXPONENTS];
    struct kvc_popularity_block block;
    double mass[EXPONENTS] = {0};
    for (int i = 0; i < EXPONENTS; i++) {
        const struct kvc_workload workload = {
            .keys = 1000000, .popularity = KVC_POPULARITY_ZIPF, .zipf_s = 0.5 + 0.02 * i};
        kvc_popularity_blocks_open(&blocks[i], &workload);
    }
    for (int b = 0; b < 300; b++) {
        for (int i = 0; i < EXPONENTS; i++) {
            cr_assert(kvc_popularity_blocks_next(&blocks[i], &block));
            mass[i] += block.mass;
        }
    }
    for (int i = 0; i < EXPONENTS; i++) {
        double expected = kvc_zipf_mass(1000000, 0.5 + 0.02 * i, blocks[i].next);
        cr_expect_float_eq(mass[i], expected, 1e-12, "exponent %d: %.17g, %.17g", i, mass[i], expected);
        kvc_popularity_blocks_close(&blocks[i]);
    }
}
