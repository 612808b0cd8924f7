#include "sim/workload/keys/popularity_blocks.h"

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
