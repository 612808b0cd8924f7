#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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
    double rounded[3] = {0.1 + 0.2, 0.3, 0.3};
    cr_expect_neq(rounded[0], rounded[1]);
    cr_expect_eq(kvc_interval_of(rounded, 3).half_width, 0, "rounding is no variation");
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

/* Fills a first-order autoregression with mean 7, variance 1 and the given correlation of neighbours. */
static void autoregress(struct kvc_rng *rng, double correlation, double *values, uint32_t count)
{
    double state = normal(rng), step = sqrt(1 - correlation * correlation);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = 7 + state;
        state = correlation * state + step * normal(rng);
    }
}

/* Batches number 40 to 80. Where the correlation stays significant, no interval is better than a narrow one.
 */
Test(batch_interval, covers_the_mean_of_a_correlated_series)
{
    enum { EXPERIMENTS = 2000, MOST = 80 };
    static const double correlations[] = {-0.5, 0, 0.2, 0.4, 0.5};
    static const uint32_t counts[] = {40, 60, 80};
    for (size_t c = 0; c < 5 * 3; c++) {
        uint32_t count = counts[c % 3], covered = 0, known = 0;
        double correlation = correlations[c / 3], values[MOST];
        struct kvc_rng rng;
        kvc_rng_init(&rng, 3, "autoregression", c);
        for (int i = 0; i < EXPERIMENTS; i++) {
            autoregress(&rng, correlation, values, count);
            struct kvc_interval interval = kvc_interval_of_batches(values, count);
            known += !isnan(interval.half_width);
            covered += fabs(interval.mean - 7) <= interval.half_width;
        }
        double share = (double)covered / known;
        cr_expect(share > 0.9 && share < 0.99, "correlation %g, %u values: %g", correlation, count, share);
        cr_expect_gt(known, 0.9 * EXPERIMENTS, "correlation %g, %u values", correlation, count);
    }
}

/* A plain t interval would cover the mean of such a series in hardly half of the cases. */
Test(batch_interval, is_wide_or_unknown_where_neighbours_depend_on_each_other)
{
    enum { EXPERIMENTS = 1000, COUNT = 40 };
    uint32_t plain = 0, covered = 0, unknown = 0;
    double values[COUNT];
    struct kvc_rng rng;
    kvc_rng_init(&rng, 4, "strong", 0);
    for (int i = 0; i < EXPERIMENTS; i++) {
        autoregress(&rng, 0.9, values, COUNT);
        struct kvc_interval interval = kvc_interval_of_batches(values, COUNT);
        plain += fabs(interval.mean - 7) <= kvc_interval_of(values, COUNT).half_width;
        covered += fabs(interval.mean - 7) <= interval.half_width;
        unknown += isnan(interval.half_width);
    }
    cr_expect_lt(plain, 0.45 * EXPERIMENTS);
    cr_expect_gt(covered + unknown, 0.7 * EXPERIMENTS, "%u covered, %u unknown", covered, unknown);
    cr_expect_gt(unknown, 0.05 * EXPERIMENTS);
}

/* Windows that cut a regular cycle at changing places alternate around the mean; pairs of them differ less.
 */
Test(batch_interval, is_narrow_where_neighbours_balance_each_other)
{
    double values[40];
    for (int i = 0; i < 40; i++) {
        values[i] = 100 + (i % 2 == 0 ? 5 : -5) + 0.01 * (i % 4);
    }
    cr_expect_lt(kvc_interval_of_batches(values, 40).half_width, 0.02);
    cr_expect_gt(kvc_interval_of(values, 40).half_width, 1);
}

Test(batch_interval, of_too_few_or_unknown_values)
{
    double values[] = {1, 2, 1, 3, 2, 1};
    cr_expect(isnan(kvc_interval_of_batches(NULL, 0).mean));
    cr_expect_eq(kvc_interval_of_batches(values, 4).mean, 1.75);
    cr_expect(isnan(kvc_interval_of_batches(values, 4).half_width));
    cr_expect_gt(kvc_interval_of_batches(values, 5).half_width, 0);
    values[5] = NAN;
    cr_expect(isnan(kvc_interval_of_batches(values, 6).half_width));
    for (int i = 0; i < 6; i++) {
        values[i] = 2;
    }
    cr_expect_eq(kvc_interval_of_batches(values, 6).half_width, 0);
}

/* Numbers on either side of one with few digits round to it, also around powers of ten, where the last digit
 * has two sizes. */
Test(rounded, hides_the_last_digits)
{
    for (int exponent = -12; exponent <= 12; exponent++) {
        for (int number = 1; number <= 100; number++) {
            char text[32];
            snprintf(text, sizeof(text), "%de%d", number, exponent);
            double value = strtod(text, NULL);
            cr_expect_eq(kvc_rounded(value, 7), value, "%s", text);
            cr_expect_eq(kvc_rounded(value * (1 + 1e-12), 7), value, "%s and more", text);
            cr_expect_eq(kvc_rounded(-value * (1 - 1e-12), 7), -value, "less than %s", text);
        }
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
