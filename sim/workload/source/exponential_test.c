#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <math.h>

#include "sim/workload/source/exponential.h"

/* Every part of the range has its share: the fast path, the edges of the layers, and the tail beyond 7.7. */
Test(exponential, has_the_distribution)
{
    enum { DRAWS = 4000000, BINS = 500 };
    static double count[BINS];
    struct kvc_exponential tables;
    struct kvc_rng rng;
    double statistic = 0, sum = 0, beyond = 0;
    uint32_t rest;
    kvc_exponential_init(&tables);
    kvc_rng_init(&rng, 5, "exponential", 0);
    for (int i = 0; i < DRAWS; i++) {
        double x = kvc_exponential_draw(&tables, &rng, &rest);
        cr_assert(x >= 0 && isfinite(x));
        count[(int)fmin(-expm1(-x) * BINS, BINS - 1)]++;
        sum += x;
        beyond += x > 8;
    }
    for (int i = 0; i < BINS; i++) {
        statistic += pow(count[i] - (double)DRAWS / BINS, 2) / ((double)DRAWS / BINS);
    }
    cr_expect_lt(statistic, gsl_cdf_chisq_Qinv(1e-4, BINS - 1));
    cr_expect_gt(statistic, gsl_cdf_chisq_Pinv(1e-4, BINS - 1));
    cr_expect_float_eq(sum / DRAWS, 1, 4 / sqrt(DRAWS));
    cr_expect_float_eq(beyond, DRAWS * exp(-8), 4 * sqrt(DRAWS * exp(-8)));
}

/* The 24 bits left over are uniform, and the number says nothing about them. */
Test(exponential, the_rest_is_independent)
{
    enum { DRAWS = 1000000, BINS = 64 };
    static double count[2][BINS];
    struct kvc_exponential tables;
    struct kvc_rng rng;
    uint32_t rest;
    kvc_exponential_init(&tables);
    kvc_rng_init(&rng, 6, "exponential", 0);
    for (int i = 0; i < DRAWS; i++) {
        double x = kvc_exponential_draw(&tables, &rng, &rest);
        cr_assert_lt(rest, 1u << 24);
        count[x > M_LN2][rest * BINS >> 24]++;
    }
    for (int half = 0; half < 2; half++) {
        double statistic = 0;
        for (int i = 0; i < BINS; i++) {
            statistic += pow(count[half][i] - DRAWS / 2.0 / BINS, 2) / (DRAWS / 2.0 / BINS);
        }
        cr_expect_lt(statistic, gsl_cdf_chisq_Qinv(1e-4, BINS));
    }
}
