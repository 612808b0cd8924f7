#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "sim/base/rng.h"
#include "sim/metrics/statistics.h"

/* Draws from the standard normal distribution (Box and Muller). */
static double normal(struct kvc_rng *rng)
{
    double radius = sqrt(kvc_rng_exponential(rng, 2));
    return radius * cos(2 * M_PI * kvc_rng_unit(rng));
}

Test(interval, of_a_worked_example)
{
    /* Ten values with mean 5 and sample variance 60/9. Tables give t(0.975, 9) = 2.262157. */
    static const double values[] = {1, 2, 3, 4, 5, 5, 6, 7, 8, 9};
    struct kvc_interval interval = kvc_interval_of(values, 10);
    cr_expect_float_eq(interval.mean, 5, 1e-12);
    cr_expect_float_eq(interval.half_width, 2.262157 * sqrt(60.0 / 9 / 10), 1e-6);
}

Test(interval, agrees_with_the_normal_limit_and_gsl)
{
    enum { COUNT = 5000 };
    static double values[COUNT];
    struct kvc_rng rng;
    kvc_rng_init(&rng, 1, "normal", 0);
    for (int i = 0; i < COUNT; i++) {
        values[i] = 1e9 + normal(&rng); /* A large mean must not cancel the variance. */
    }
    struct kvc_interval interval = kvc_interval_of(values, COUNT);
    double error = gsl_stats_sd(values, 1, COUNT) / sqrt(COUNT);
    cr_expect_float_eq(interval.mean, gsl_stats_mean(values, 1, COUNT), 1e-6);
    cr_expect_float_eq(interval.half_width, gsl_cdf_ugaussian_Pinv(0.975) * error, 1e-3 * error);
    cr_expect_float_eq(error * sqrt(COUNT), 1, 0.04);
}

Test(interval, of_too_few_values)
{
    double value = 3, same[3] = {2, 2, 2};
    cr_expect(isnan(kvc_interval_of(NULL, 0).mean));
    cr_expect_eq(kvc_interval_of(&value, 1).mean, 3);
    cr_expect(isnan(kvc_interval_of(&value, 1).half_width));
    cr_expect_eq(kvc_interval_of(same, 3).half_width, 0);
}

/* 95 % of the intervals contain the true mean; how many do is binomially distributed. */
Test(interval, covers_the_mean)
{
    enum { EXPERIMENTS = 2000, MOST = 30 };
    static const uint32_t counts[] = {2, 5, 30};
    for (int c = 0; c < 3; c++) {
        struct kvc_rng rng;
        double values[MOST];
        int covered = 0;
        kvc_rng_init(&rng, 2, "coverage", counts[c]);
        for (int i = 0; i < EXPERIMENTS; i++) {
            for (uint32_t j = 0; j < counts[c]; j++) {
                values[j] = 7 + 3 * normal(&rng);
            }
            struct kvc_interval interval = kvc_interval_of(values, counts[c]);
            covered += fabs(interval.mean - 7) <= interval.half_width;
        }
        double deviation = sqrt(EXPERIMENTS * 0.95 * 0.05);
        cr_expect_float_eq(covered, 0.95 * EXPERIMENTS, 3.3 * deviation, "%u values: %d of %d", counts[c],
                           covered, EXPERIMENTS);
    }
}

enum { WINDOWS = 500 };

Test(mser5, cuts_a_known_transient)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct kvc_rng rng;
        double values[WINDOWS];
        kvc_rng_init(&rng, seed, "transient", 0);
        for (int i = 0; i < WINDOWS;
             i++) { /* 100 + 50 e^(-i/20) + noise of 2: the transient is below the noise after about 75. */
            values[i] = 100 + 50 * exp(-i / 20.0) + 2 * normal(&rng);
        }
        int64_t cut = kvc_mser5(values, WINDOWS);
        cr_expect(cut >= 40 && cut <= 200, "seed %d: cut at %d", (int)seed, (int)cut);
        cr_expect_eq(cut % 5, 0);
    }
}

Test(mser5, cuts_exactly_before_a_step)
{
    double values[WINDOWS];
    for (int i = 0; i < WINDOWS; i++) {
        values[i] =
            (i < 60 ? 10 : 20) + (i % 5 == 0) - (i % 10 == 0); /* A ripple that batches do not average out. */
    }
    cr_expect_eq(kvc_mser5(values, WINDOWS), 60);
}

Test(mser5, keeps_all_of_a_constant)
{
    double values[WINDOWS];
    for (int i = 0; i < WINDOWS; i++) {
        values[i] = 0.1;
    }
    cr_expect_eq(kvc_mser5(values, WINDOWS), 0);
}

Test(mser5, does_not_settle_on_a_trend)
{
    struct kvc_rng rng;
    double rising[WINDOWS], falling[WINDOWS], late[WINDOWS];
    kvc_rng_init(&rng, 1, "trend", 0);
    for (int i = 0; i < WINDOWS; i++) {
        double noise = normal(&rng);
        rising[i] = 0.2 * i + noise;
        falling[i] = 1000 - 0.2 * i + noise;
        late[i] = (i < WINDOWS * 3 / 5 ? 100 : 50) + noise;
    }
    cr_expect_eq(kvc_mser5(rising, WINDOWS), -1);
    cr_expect_eq(kvc_mser5(falling, WINDOWS), -1);
    cr_expect_eq(kvc_mser5(late, WINDOWS), -1);
}

Test(mser5, needs_enough_batches)
{
    double values[50] = {0}, rising[50];
    for (int i = 0; i < 50; i++) {
        rising[i] = i;
    }
    cr_expect_eq(kvc_mser5(rising, 50), -1);
    cr_expect_eq(kvc_mser5(values, 0), -1);
    cr_expect_eq(kvc_mser5(values, 49), -1);
    cr_expect_eq(kvc_mser5(values, 50), 0);
}
