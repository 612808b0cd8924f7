#include "sim/workload/rates.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#include "sim/workload/source/source_fixture.h"

/* Counts the requests that are sent in each window of a load. */
static void count_requests(const struct kvc_workload *workload, uint64_t seed, double window_ns, int windows,
                           double *count)
{
    struct kvc_source *source = kvc_test_source(workload, 1, 1, seed);
    struct kvc_batch *batch = kvc_test_batch(workload, KVC_TEST_FRAME);
    double last_ns = 0;
    memset(count, 0, (size_t)windows * sizeof(*count));
    while (kvc_source_drain(source, 0, windows * window_ns + workload->fill_timeout_ns, batch) != 0) {
        for (uint32_t i = 0; i < batch->count; i++) {
            cr_assert(batch->sent_ns[i] >= last_ns);
            last_ns = batch->sent_ns[i];
            if (last_ns < windows * window_ns) {
                count[(int)(last_ns / window_ns)]++;
            }
        }
        batch->count = 0;
    }
    kvc_batch_free(batch);
    kvc_source_free(source);
}

/* A burst every 400 us, a longer and higher one that happens once and hides one of the others, and a lull. */
static struct kvc_workload bursty(void)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_BURSTS);
    workload.rate_mops = 50;
    workload.fill_timeout_ns = 1000;
    workload.burst_count = 3;
    workload.bursts[0] = (struct kvc_burst){3, 100e3, -1, 400e3};
    workload.bursts[1] = (struct kvc_burst){10, 150e3, 1300e3, 0};
    workload.bursts[2] = (struct kvc_burst){0, 50e3, 2000e3, 0};
    return workload;
}

Test(rates, bursts_begin_and_end_when_they_say)
{
    static const struct {
        double time_ns, factor, until_ns;
    } cases[] = {{0, 1, 150e3},       {150e3, 3, 250e3},    {249e3, 3, 250e3},
                 {250e3, 1, 550e3},   {1300e3, 10, 1350e3}, {1360e3, 10, 1450e3},
                 {1450e3, 1, 1750e3}, {2000e3, 0, 2050e3},  {1e9 + 151e3, 3, 1e9 + 250e3}};
    struct kvc_workload workload = bursty();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        double until_ns;
        cr_expect_eq(kvc_bursts_factor(&workload, cases[i].time_ns, &until_ns), cases[i].factor, "%zu", i);
        cr_expect_eq(until_ns, cases[i].until_ns, "%zu: %g", i, until_ns);
    }
    cr_expect_eq(kvc_workload_rate_max_mops(&workload), 500);
}

/* No beginning is skipped or found twice, whatever the rounding of periods that no double holds. */
Test(rates, edges_of_bursts_always_lie_ahead)
{
    struct kvc_workload workload = {.arrival = KVC_ARRIVAL_BURSTS, .rate_mops = 1, .burst_count = 1};
    workload.bursts[0] = (struct kvc_burst){2, 1e6 / 30, 1e6 / 7, 1e6 / 3};
    double now_ns = 0, until_ns;
    for (int edge = 0; edge < 100000; edge++) {
        cr_assert_eq(kvc_bursts_factor(&workload, now_ns, &until_ns), edge % 2 == 0 ? 1 : 2, "edge %d", edge);
        cr_assert_gt(until_ns, now_ns);
        now_ns = until_ns;
    }
}

/* The counts of all windows together have the chi-square distribution of a Poisson process with this rate. */
Test(rates, requests_follow_the_bursts)
{
    enum { WINDOWS = 300 };
    struct kvc_workload workload = bursty();
    double window_ns = 10e3, count[WINDOWS], statistic = 0, until_ns;
    int bins = 0;
    count_requests(&workload, KVC_TEST_SEED, window_ns, WINDOWS, count);
    for (int i = 0; i < WINDOWS; i++) {
        double factor = kvc_bursts_factor(&workload, i * window_ns, &until_ns);
        double expected = factor * workload.rate_mops * 1e-3 * window_ns;
        if (factor == 0) {
            cr_expect_eq(count[i], 0);
        } else {
            statistic += pow(count[i] - expected, 2) / expected;
            bins++;
        }
    }
    cr_expect_eq(bins, WINDOWS - 5);
    cr_expect_lt(statistic, gsl_cdf_chisq_Qinv(1e-4, bins));
    cr_expect_gt(statistic, gsl_cdf_chisq_Pinv(1e-4, bins));
}

static struct kvc_workload modulated(void)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_MMPP);
    workload.fill_timeout_ns = 1000;
    workload.mmpp_states = 2;
    workload.mmpp[0] = (struct kvc_rate_state){2, 9000};
    workload.mmpp[1] = (struct kvc_rate_state){60, 3000};
    return workload;
}

/* Returns the variance of the requests of a window divided by their mean, for two states in the steady state
 * (Fischer and Meier-Hellstern, 1993, section 3). */
static double dispersion(const struct kvc_workload *workload, double window_ns)
{
    const struct kvc_rate_state *a = &workload->mmpp[0], *b = &workload->mmpp[1];
    double length_ns = a->length_ns + b->length_ns, leave = 1 / a->length_ns + 1 / b->length_ns;
    double gap = (b->rate_mops - a->rate_mops) * 1e-3, left = leave * window_ns;
    double mean = (a->rate_mops * a->length_ns + b->rate_mops * b->length_ns) / length_ns * 1e-3 * window_ns;
    double extra = 2 * a->length_ns * b->length_ns / (length_ns * length_ns) * gap * gap / (leave * leave);
    return 1 + extra * (left + expm1(-left)) / mean;
}

Test(rates, an_mmpp_has_its_mean_and_index_of_dispersion)
{
    enum { WINDOWS = 40000 };
    static double count[WINDOWS];
    static const double windows_ns[] = {300, 3000, 30000};
    struct kvc_workload workload = modulated();
    for (size_t k = 0; k < sizeof(windows_ns) / sizeof(*windows_ns); k++) {
        double sum = 0, squares = 0, expected = 16.5e-3 * windows_ns[k];
        count_requests(&workload, KVC_TEST_SEED + k, windows_ns[k], WINDOWS, count);
        for (int i = 0; i < WINDOWS; i++) {
            sum += count[i];
            squares += count[i] * count[i];
        }
        double mean = sum / WINDOWS, index = (squares / WINDOWS - mean * mean) / mean;
        /* The dispersion of the whole run bounds that of its mean. */
        double error = sqrt(dispersion(&workload, 1e12) / (expected * WINDOWS));
        cr_expect_float_eq(mean / expected, 1, 4 * error, "%g ns: %g", windows_ns[k], mean);
        cr_expect_float_eq(index / dispersion(&workload, windows_ns[k]), 1, 0.05, "%g ns: %g, not %g",
                           windows_ns[k], index, dispersion(&workload, windows_ns[k]));
    }
    cr_expect_float_eq(kvc_workload_rate_mean_mops(&workload, 0, 1), 16.5, 1e-12);
}

/* The first requests of a run are those of any other time: their mean and dispersion are those in the steady
 * state, which a run that always begins in the same state lacks. */
Test(rates, an_mmpp_begins_in_its_steady_state)
{
    enum { RUNS = 4000 };
    struct kvc_workload workload = modulated();
    double window_ns = 1000, sum = 0, squares = 0, expected = 16.5, index = dispersion(&workload, window_ns);
    for (int i = 0; i < RUNS; i++) {
        double count;
        count_requests(&workload, (uint64_t)i, window_ns, 1, &count);
        sum += count;
        squares += count * count;
    }
    double mean = sum / RUNS;
    cr_expect_float_eq(mean, expected, 4 * sqrt(expected * index / RUNS), "%g", mean);
    cr_expect_float_eq((squares / RUNS - mean * mean) / mean / index, 1, 0.1);
}

/* Three states follow each other in their order: with the longest of them silent, requests stop and go on. */
Test(rates, states_follow_each_other)
{
    enum { WINDOWS = 20000 };
    static double count[WINDOWS];
    struct kvc_workload workload = modulated();
    double silent = 0, sum = 0;
    workload.mmpp_states = 3;
    workload.mmpp[2] = (struct kvc_rate_state){0, 24000};
    count_requests(&workload, KVC_TEST_SEED, 1000, WINDOWS, count);
    for (int i = 0; i < WINDOWS; i++) {
        silent += count[i] == 0;
        sum += count[i];
    }
    cr_expect_float_eq(sum / WINDOWS, 5.5, 0.5);
    cr_expect_float_eq(silent / WINDOWS, 0.71, 0.03); /* 24 of 36 us, and P(0) of a mean of 2 in 9 of 36. */
}

Test(rates, the_mean_of_curves_and_bursts_is_their_integral)
{
    struct kvc_workload workload = bursty();
    /* In 2 ms there are five bursts of 100 us, of which the higher one of 150 us hides one. */
    double more_ns = 4 * 100e3 * (3 - 1) + 150e3 * (10 - 1);
    cr_expect_float_eq(kvc_workload_rate_mean_mops(&workload, 0, 2e6), 50 * (1 + more_ns / 2e6), 1e-9);
    cr_expect_float_eq(kvc_workload_rate_mean_mops(&workload, 2e6, 2.1e6), 25, 1e-9);
    workload.arrival = KVC_ARRIVAL_CURVE;
    cr_expect_float_eq(kvc_workload_rate_mean_mops(&workload, 0, 1e6), 100, 1e-9);
    cr_expect_float_eq(kvc_workload_rate_mean_mops(&workload, 0.5e6, 2e6), (0.5 * 125 + 150) / 1.5, 1e-9);
    workload.curve[0].time_ns = 0.5e6;
    cr_expect_float_eq(kvc_workload_rate_mean_mops(&workload, 0, 0.75e6), (0.5 * 50 + 0.25 * 75) / 0.75,
                       1e-9);
    kvc_workload_scale_rates(&workload, 2);
    cr_expect_float_eq(kvc_workload_rate_mean_mops(&workload, 1e6, 2e6), 300, 1e-9);
    workload.arrival = KVC_ARRIVAL_POISSON;
    cr_expect_eq(kvc_workload_rate_mean_mops(&workload, 0, 1), 100);
}
