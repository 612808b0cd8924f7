#include "sim/base/rng.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <math.h>

Test(rng, streams_differ_and_repeat)
{
    struct kvc_rng a, b, c, d;
    kvc_rng_init(&a, 1, "x", 0);
    kvc_rng_init(&b, 1, "x", 0);
    kvc_rng_init(&c, 1, "x", 1);
    kvc_rng_init(&d, 1, "y", 0);
    int same_c = 0, same_d = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t value = kvc_rng_u64(&a);
        cr_assert_eq(value, kvc_rng_u64(&b));
        same_c += value == kvc_rng_u64(&c);
        same_d += value == kvc_rng_u64(&d);
    }
    cr_expect_eq(same_c + same_d, 0);
}

/* Returns chi-square for 64 equally likely classes. */
static double chi_square(const uint32_t *seen, double expected)
{
    double sum = 0;
    for (int i = 0; i < 64; i++) {
        sum += (seen[i] - expected) * (seen[i] - expected) / expected;
    }
    return sum;
}

Test(rng, is_uniform_and_exponential)
{
    enum { DRAWS = 640000 };
    uint32_t below[64] = {0}, exponential[64] = {0};
    struct kvc_rng rng;
    double sum = 0;
    kvc_rng_init(&rng, 5, "test", 0);
    for (int i = 0; i < DRAWS; i++) {
        below[kvc_rng_below(&rng, 64)]++;
        double draw = kvc_rng_exponential(&rng, 3);
        sum += draw;
        exponential[(int)(64 * (1 - exp(-draw / 3)))]++;
    }
    double limit = gsl_cdf_chisq_Qinv(1e-4, 63);
    cr_expect_lt(chi_square(below, DRAWS / 64.0), limit);
    cr_expect_lt(chi_square(exponential, DRAWS / 64.0), limit);
    cr_expect_float_eq(sum / DRAWS, 3, 5 * 3 / sqrt(DRAWS));
}
