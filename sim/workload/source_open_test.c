#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#include "sim/workload/source_fixture.h"

/* Drains all frames of a shard up to until_ns and counts them by window. Checks that the requests of a
 * frame have one send time, and that these times ascend. */
static uint64_t count_frames(struct kvc_source *source, uint32_t shard, double until_ns, double window_ns,
                             double *count)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_POISSON);
    struct kvc_batch *batch = kvc_test_batch(&workload, KVC_TEST_FRAME);
    uint64_t frames = 0;
    double last_ns = 0;
    while (kvc_source_drain(source, shard, until_ns, batch) != 0) {
        cr_assert_eq(batch->count, KVC_TEST_FRAME);
        for (uint32_t i = 0; i < KVC_TEST_FRAME; i++) {
            cr_assert_eq(batch->sent_ns[i], batch->sent_ns[0]);
        }
        cr_assert(batch->sent_ns[0] >= last_ns && batch->sent_ns[0] <= until_ns);
        last_ns = batch->sent_ns[0];
        count[(int)(last_ns / window_ns)]++;
        batch->count = 0;
        frames++;
    }
    double next_ns = kvc_source_next_ns(source, shard);
    cr_assert_gt(next_ns, until_ns);
    cr_assert_eq(kvc_source_drain(source, shard, nextafter(next_ns, 0), batch), 0);
    cr_assert_eq(kvc_source_drain(source, shard, next_ns, batch), KVC_TEST_FRAME);
    kvc_batch_free(batch);
    return frames;
}

Test(source_open, poisson_frames_have_their_rate_at_every_shard)
{
    enum { WINDOWS = 2000, NODES = 4 };
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_POISSON);
    struct kvc_source *source = kvc_test_source(&workload, NODES, 1, KVC_TEST_SEED);
    double until_ns = 1e7, frames = workload.rate_mops * 1e-3 * until_ns / KVC_TEST_FRAME, total = 0;
    for (uint32_t shard = 0; shard < NODES; shard++) {
        double count[WINDOWS + 1] = {0}, statistic = 0;
        double seen = (double)count_frames(source, shard, until_ns, until_ns / WINDOWS, count);
        for (int i = 0; i < WINDOWS; i++) {
            statistic += pow(count[i] - seen / WINDOWS, 2) / (seen / WINDOWS);
        }
        /* In a Poisson process, the variance of the counts equals their mean, so chi-square is tested at both
         * ends. */
        cr_assert_lt(statistic, gsl_cdf_chisq_Qinv(1e-4, WINDOWS - 1));
        cr_assert_gt(statistic, gsl_cdf_chisq_Pinv(1e-4, WINDOWS - 1));
        cr_assert_float_eq(seen * NODES / frames, 1, 0.07); /* Shares on the ring differ a little. */
        total += seen;
    }
    cr_assert_float_eq(total, frames, 5 * sqrt(frames));
    kvc_source_free(source);
}

Test(source_open, fixed_frames_are_equally_far_apart)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_FIXED);
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, KVC_TEST_FRAME);
    for (int i = 0; i < 100000; i++) {
        double expected_ns = i * (KVC_TEST_FRAME / 0.1); /* 0.1 requests per ns. */
        batch->count = 0;
        cr_assert_float_eq(kvc_source_next_ns(source, 0), expected_ns, 1e-6);
        cr_assert_eq(kvc_source_drain(source, 0, expected_ns + 1e-6, batch), KVC_TEST_FRAME);
        cr_assert_eq(kvc_source_drain(source, 0, expected_ns + 1, batch), 0);
    }
    kvc_batch_free(batch);
    kvc_source_free(source);
}

/* Integrates the rate curve between two times in small steps. Returns the number of requests. */
static double requests_between(const struct kvc_workload *workload, double from_ns, double to_ns)
{
    enum { STEPS = 1000 };
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        double at = from_ns + (i + 0.5) * (to_ns - from_ns) / STEPS, rate = workload->curve[0].rate_mops;
        for (uint32_t p = 1; p < workload->curve_points; p++) {
            const struct kvc_rate_point *a = &workload->curve[p - 1], *b = &workload->curve[p];
            if (at >= b->time_ns) {
                rate = b->rate_mops;
            } else if (at > a->time_ns) {
                rate = a->rate_mops +
                       (b->rate_mops - a->rate_mops) * (at - a->time_ns) / (b->time_ns - a->time_ns);
            }
        }
        sum += rate * 1e-3 * (to_ns - from_ns) / STEPS;
    }
    return sum;
}

Test(source_open, curve_frames_follow_the_curve)
{
    enum { WINDOWS = 100 };
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_CURVE);
    static const struct kvc_rate_point points[] = {{1e6, 20},  {3e6, 200},   {4e6, 200}, {4.5e6, 0},
                                                   {5.5e6, 0}, {5.6e6, 300}, {8e6, 10}};
    memcpy(workload.curve, points, sizeof(points));
    workload.curve_points = sizeof(points) / sizeof(*points);
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
    double until_ns = 1e7, count[WINDOWS + 1] = {0}, statistic = 0;
    int bins = 0;
    count_frames(source, 0, until_ns, until_ns / WINDOWS, count);
    for (int i = 0; i < WINDOWS; i++) {
        double expected = requests_between(&workload, i * until_ns / WINDOWS, (i + 1) * until_ns / WINDOWS) /
                          KVC_TEST_FRAME;
        if (expected < 1e-9) {
            cr_assert_eq(count[i], 0);
        } else {
            statistic += pow(count[i] - expected, 2) / expected;
            bins++;
        }
    }
    cr_assert_lt(statistic, gsl_cdf_chisq_Qinv(1e-4, bins));
    cr_assert_gt(statistic, gsl_cdf_chisq_Pinv(1e-4, bins));
    kvc_source_free(source);
}

Test(source_open, a_curve_that_ends_at_zero_ends_the_load)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_CURVE);
    workload.curve[1].rate_mops = 0;
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, 100000);
    kvc_test_drain(source, 0, INFINITY, batch);
    cr_assert_float_eq((double)batch->count, 25000,
                       5 * sqrt(25000.0 * KVC_TEST_FRAME)); /* 50 Mops that fall to 0 in 1 ms. */
    cr_assert_leq(batch->sent_ns[batch->count - 1], 1e6);
    cr_assert(isinf(kvc_source_next_ns(source, 0)));
    kvc_batch_free(batch);
    kvc_source_free(source);
}

/* With one key, the other shard never receives a request. Asking it must neither hang nor go back in time. */
Test(source_open, a_shard_without_keys_learns_when_to_ask_again)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_POISSON);
    workload.keys = 1;
    struct kvc_source *source = kvc_test_source(&workload, 2, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, KVC_TEST_FRAME);
    kvc_source_keys(source, 0, 1, batch);
    uint32_t owner = kvc_source_shard(source, batch->hash[0]), other = 1 - owner;
    batch->count = 0;
    double first_ns = kvc_source_next_ns(source, other), second_ns = kvc_source_next_ns(source, other);
    cr_assert(first_ns > 0 && second_ns > first_ns && isfinite(second_ns));
    cr_assert_eq(kvc_source_drain(source, other, first_ns, batch), 0);
    cr_assert_eq(kvc_source_drain(source, owner, first_ns, batch), KVC_TEST_FRAME);
    kvc_batch_free(batch);
    kvc_source_free(source);
}
