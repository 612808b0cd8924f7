#include "sim/metrics/ratios.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "sim/base/rng.h"
#include "sim/metrics/statistics.h"

enum { BATCHES = 40, WINDOW_NS = 1000 };

/* Counters after each batch, from 0 on. */
struct counters {
    double part[BATCHES], whole[BATCHES];
};

/* Returns the half width that the ratios report for these counters. */
static double reported(const struct counters *counters, enum kvc_ratio_kind kind)
{
    struct kvc_result *result = calloc(1, sizeof(*result));
    struct kvc_ratios ratios = {0};
    struct kvc_ratio ratio = {"stages", "send", "mean_us", 0, 0, kind};
    kvc_ratios_begin(&ratios, -1);
    kvc_ratios_sample(&ratios, &ratio);
    for (int i = 0; i < BATCHES; i++) {
        ratio.part = counters->part[i];
        ratio.whole = counters->whole[i];
        kvc_ratios_begin(&ratios, i);
        kvc_ratios_sample(&ratios, &ratio);
    }
    kvc_ratios_report(&ratios, BATCHES, BATCHES * WINDOW_NS, result);
    cr_assert_eq(result->half_width_count, 1);
    cr_expect_str_eq(result->half_width[0].name, "stages.send.mean_us");
    double half_width = kvc_result_half_width(result, "stages.send.mean_us");
    kvc_ratios_close(&ratios);
    free(result);
    return half_width;
}

/* A batch has `events` events of the mean time 5, each exponential. */
static struct counters random_counters(uint64_t seed, int events)
{
    struct counters counters;
    struct kvc_rng rng;
    double part = 0, whole = 0;
    kvc_rng_init(&rng, seed, "ratios_test", 0);
    for (int i = 0; i < BATCHES; i++) {
        for (int j = 0; j < events; j++, whole++) {
            part += kvc_rng_exponential(&rng, 5);
        }
        counters.part[i] = part;
        counters.whole[i] = whole;
    }
    return counters;
}

Test(ratios, cover_the_true_quotient_in_95_percent_of_the_runs)
{
    enum { RUNS = 400 };
    int covered = 0;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        struct counters counters = random_counters(seed, 50);
        double found = counters.part[BATCHES - 1] / counters.whole[BATCHES - 1];
        covered += fabs(found - 5) <= reported(&counters, KVC_RATIO_OF_COUNTS);
    }
    cr_expect(covered >= 0.92 * RUNS && covered <= 0.98 * RUNS, "%d of %d", covered, RUNS);
}

Test(ratios, of_time_are_those_of_the_whole_measured_time)
{
    struct counters counters = random_counters(1, 50), rate = counters;
    for (int i = 0; i < BATCHES; i++) {
        counters.whole[i] = rate.whole[i] = (i + 1) * WINDOW_NS;
    }
    double half_width = reported(&rate, KVC_RATIO_OF_ENGINE);
    cr_expect_gt(half_width, 0);
    cr_expect_float_eq(reported(&counters, KVC_RATIO_OF_TIME), half_width * BATCHES * WINDOW_NS,
                       1e-9 * half_width * BATCHES * WINDOW_NS);
}

/* Only every other batch has an event, and only every fourth in the second half. A join of four has two
 * events or one, and counts as much. */
Test(ratios, join_batches_without_events)
{
    struct counters counters;
    double part = 0, whole = 0, joined[BATCHES / 4], events[BATCHES / 4], value[BATCHES / 4], before = 0;
    for (int i = 0; i < BATCHES; i++) {
        if (i % (i < BATCHES / 2 ? 2 : 4) == 0) {
            part += 3 + (i * i) % 7;
            whole++;
        }
        counters.part[i] = part;
        counters.whole[i] = whole;
        if (i % 4 == 3) {
            joined[i / 4] = part - before;
            events[i / 4] = i < BATCHES / 2 ? 2 : 1;
            before = part;
        }
    }
    double quotient = part / whole;
    for (int i = 0; i < BATCHES / 4; i++) {
        value[i] = (joined[i] - quotient * events[i]) / (whole / (BATCHES / 4));
    }
    double expected = kvc_interval_of_batches(value, BATCHES / 4).half_width;
    cr_expect_gt(expected, 0);
    cr_expect_float_eq(reported(&counters, KVC_RATIO_OF_COUNTS), expected, 1e-12);
}

/* Nearly all events are in every fifth batch. The few others are far from the mean, and hardly count. */
Test(ratios, batches_count_as_much_as_their_denominators)
{
    enum { RUNS = 200 };
    double widths = 0, squares = 0;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        struct counters counters = random_counters(seed, 1), many = random_counters(seed + RUNS, 100);
        double part = 0, whole = 0;
        for (int i = 0; i < BATCHES; i++) {
            double before = i > 0 ? many.part[i - 1] : 0;
            part += i % 5 == 0 ? many.part[i] - before : 0;
            whole += i % 5 == 0 ? 100 : 0;
            counters.part[i] += part;
            counters.whole[i] += whole;
        }
        double error = counters.part[BATCHES - 1] / counters.whole[BATCHES - 1] - 5;
        squares += error * error / RUNS;
        widths += reported(&counters, KVC_RATIO_OF_COUNTS) / RUNS;
    }
    cr_expect(widths > 1.2 * sqrt(squares) && widths < 4 * sqrt(squares), "%g, error %g", widths,
              sqrt(squares));
}

Test(ratios, have_no_interval_without_events)
{
    struct counters counters = {0};
    cr_expect(isnan(reported(&counters, KVC_RATIO_OF_COUNTS)));
    counters = random_counters(1, 0);
    counters.part[BATCHES - 1] = counters.whole[BATCHES - 1] = 1; /* One event in all. */
    cr_expect(isnan(reported(&counters, KVC_RATIO_OF_COUNTS)));
}

/* The order of the engine's additions may differ between processes, and with it the last digits. */
Test(ratios, of_the_engine_do_not_show_the_order_of_its_additions)
{
    struct counters counters;
    for (int i = 0; i < BATCHES; i++) {
        counters.part[i] = (i + 1) * 0.3 * (1 + (i % 3) * 1e-13);
        counters.whole[i] = i + 1;
    }
    cr_expect_gt(reported(&counters, KVC_RATIO_OF_COUNTS), 0);
    cr_expect_lt(reported(&counters, KVC_RATIO_OF_ENGINE), 1e-16);
}

/* A longer run joins batches while it lasts; what was sampled before counts in the joined ones. */
Test(ratios, keep_their_counts_when_batches_are_joined)
{
    struct kvc_ratios ratios = {0};
    struct kvc_ratio ratio = {"kernel", NULL, "lines_per_read", 0, 0, KVC_RATIO_OF_COUNTS};
    kvc_ratios_begin(&ratios, -1);
    kvc_ratios_sample(&ratios, &ratio);
    for (int i = 0; i < KVC_BATCHES_MAX; i++) {
        ratio.part += i;
        ratio.whole += 1;
        kvc_ratios_begin(&ratios, i);
        kvc_ratios_sample(&ratios, &ratio);
    }
    kvc_ratios_join(&ratios);
    for (int i = 0; i < KVC_BATCHES_MAX; i++) {
        cr_expect_eq(ratios.ratio[0].part[i], i < KVC_BATCHES_MAX / 2 ? 4 * i + 1 : 0);
        cr_expect_eq(ratios.ratio[0].whole[i], i < KVC_BATCHES_MAX / 2 ? 2 : 0);
    }
    kvc_ratios_close(&ratios);
}
