#include <criterion/criterion.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/metrics/batches.h"
#include "sim/metrics/statistics.h"
#include "sim/metrics/values.h"

enum { FROM_NS = 12345, GAP_NS = 10 };

static struct kvc_batches batches;
static struct kvc_result *result;
static uint64_t latency_seed = 1;

static void open_all(void)
{
    result = calloc(1, sizeof(*result));
    kvc_batches_open(&batches, 1000);
}

static void close_all(void)
{
    kvc_batches_close(&batches);
    free(result);
}

/* Records `count` requests that complete every GAP_NS, with exponentially distributed latencies, together
 * with the same histogram without batches. */
static void record(uint32_t count, struct kvc_histogram *whole)
{
    struct kvc_rng rng;
    double sent_ns[64], done_ns[64];
    kvc_rng_init(&rng, latency_seed, "latency", 0);
    for (uint32_t i = 0; i < count; i += 64) {
        uint32_t rows = count - i < 64 ? count - i : 64;
        for (uint32_t j = 0; j < rows; j++) {
            done_ns[j] = FROM_NS + (double)(i + j) * GAP_NS;
            sent_ns[j] = done_ns[j] - 100 - kvc_rng_exponential(&rng, 1000);
        }
        kvc_batches_latencies(&batches, FROM_NS, sent_ns, done_ns, rows);
        kvc_batches_completions(&batches, FROM_NS, done_ns, rows);
        kvc_histogram_record(whole, sent_ns, done_ns, rows);
    }
}

static const struct kvc_batch_means *means_of(const char *name)
{
    return kvc_result_batch_means(result, name);
}

TestSuite(batches, .init = open_all, .fini = close_all);

Test(batches, add_up_to_the_run_however_long_it_is)
{
    static const uint32_t counts[] = {1, 100, 7999, 8000, 8001, 123456};
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        struct kvc_histogram *whole = calloc(1, sizeof(*whole));
        close_all();
        open_all();
        record(counts[i], whole);
        kvc_batches_report(&batches, (double)counts[i] * GAP_NS, result);
        cr_assert_eq(result->latency.count, counts[i]);
        cr_assert_float_eq(result->latency.sum_ns, whole->sum_ns, 1e-9 * whole->sum_ns);
        cr_assert_eq(result->latency.min_ns, whole->min_ns);
        cr_assert_eq(result->latency.max_ns, whole->max_ns);
        cr_assert_arr_eq(result->latency.slot, whole->slot, sizeof(whole->slot));
        free(whole);
    }
}

Test(batches, number_half_as_many_to_the_most)
{
    static const struct {
        uint32_t count, batches;
        double length_s;
    } cases[] = {{499, 4, 1e-6},   {4000, 40, 1e-6},  {8000, 80, 1e-6},
                 {8200, 41, 2e-6}, {64000, 80, 8e-6}, {64001, 40, 16e-6}};
    struct kvc_histogram *whole = calloc(1, sizeof(*whole));
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        close_all();
        open_all();
        record(cases[i].count, whole);
        kvc_batches_report(&batches, (double)cases[i].count * GAP_NS, result);
        const struct kvc_batch_means *throughput = means_of("throughput_mops");
        cr_expect_eq(throughput->count, cases[i].batches, "%u: %u", cases[i].count, throughput->count);
        cr_expect_float_eq(result->batch_s, cases[i].length_s, 1e-15);
        for (uint32_t j = 0; j < throughput->count; j++) {
            cr_expect_float_eq(throughput->mean[j], 1e3 / GAP_NS, 1e-9, "no batch is cut off");
        }
        cr_expect_eq(means_of("latency_p50_us") != NULL, cases[i].batches >= KVC_BATCHES_MIN);
    }
    free(whole);
}

/* 80 batches hold 100 values each: enough for the median, too few for the 99th percentile. */
Test(batches, are_joined_until_a_percentile_has_enough_values)
{
    struct kvc_histogram *whole = calloc(1, sizeof(*whole));
    record(8000, whole);
    kvc_batches_report(&batches, 8000 * GAP_NS, result);
    cr_expect_eq(means_of("latency_p10_us")->count, 80);
    cr_expect_eq(means_of("latency_p50_us")->count, 80);
    cr_expect_eq(means_of("latency_p90_us")->count, 80);
    cr_expect_eq(means_of("latency_p95_us")->count, 40);
    cr_expect_eq(means_of("latency_p99_us")->count, 5);
    cr_expect_null(means_of("latency_p99.9_us"), "eight values are too few");
    cr_expect_null(means_of("latency_max_us"), "extremes have none");
    const struct kvc_batch_means *median = means_of("latency_p50_us");
    struct kvc_interval interval = kvc_interval_of_batches(median->mean, median->count);
    double all_us = kvc_histogram_percentile_ns(whole, 0.5) * 1e-3;
    cr_expect_float_eq(interval.mean, all_us, 0.02 * all_us);
    free(whole);
}

/* The standard error of the median of n exponential values with mean 1 us is 1 / sqrt(n) us; 20 runs of 80
 * batches find it to 2 %. The quantile of 80 batches is 1.99, and correlations by chance widen an interval by
 * 4 %. */
Test(batches, give_the_interval_of_a_median)
{
    enum { RUNS = 20 };
    double deviation_us = 0, half_width_us = 0;
    for (latency_seed = 1; latency_seed <= RUNS; latency_seed++) {
        struct kvc_histogram *whole = calloc(1, sizeof(*whole));
        close_all();
        open_all();
        record(8000, whole);
        kvc_batches_report(&batches, 8000 * GAP_NS, result);
        const struct kvc_batch_means *median = means_of("latency_p50_us");
        deviation_us += gsl_stats_sd(median->mean, 1, median->count) / RUNS;
        half_width_us += kvc_interval_of_batches(median->mean, median->count).half_width / RUNS;
        free(whole);
    }
    cr_expect_float_eq(deviation_us, 1 / sqrt(100), 0.06 / sqrt(100), "%g us", deviation_us);
    cr_expect_float_eq(half_width_us, 2.07 / sqrt(8000), 0.06 * 2.07 / sqrt(8000), "%g us", half_width_us);
}

Test(batches, count_what_was_sent_lost_and_found)
{
    for (int i = 0; i < 10; i++) {
        struct kvc_batch_counts *batch = kvc_batches_at(&batches, 500 + 1000.0 * i);
        batch->offered = 100;
        batch->dropped = (uint64_t)i;
        batch->gets = 50;
        batch->hits = i % 2 == 0 ? 40 : 50;
    }
    kvc_batches_report(&batches, 10000, result);
    cr_expect_float_eq(means_of("offered_mops")->mean[3], 100, 1e-9);
    cr_expect_float_eq(means_of("lost_frac")->mean[3], 0.03, 1e-12);
    cr_expect_float_eq(means_of("hit_frac")->mean[4], 0.8, 1e-12);
    cr_expect_eq(means_of("throughput_mops")->mean[0], 0);
    cr_expect(isnan(means_of("latency_mean_us")->mean[0]));
    cr_expect_null(means_of("latency_p50_us"));
}

/* A server is busy for 10 % of the first half and all of the second; another one begins within a batch. */
Test(batches, know_how_busy_stages_are)
{
    for (int i = 0; i < 10; i++) {
        kvc_batches_busy(&batches, 1, 1000.0 * i, 1000.0 * i + (i < 5 ? 100 : 1000));
    }
    kvc_batches_busy(&batches, 4, 2500, 4200);
    kvc_batches_report(&batches, 10000, result);
    kvc_batches_report_stage(&batches, "one", 1u << 1, 2, 10000, result);
    kvc_batches_report_stage(&batches, "both", 1u << 1 | 1u << 4, 1, 10000, result);
    const struct kvc_batch_means *one = means_of("stages.one.utilization_frac"),
                                 *both = means_of("stages.both.utilization_frac");
    cr_assert_eq(one->count, 10);
    cr_expect_float_eq(one->mean[2], 0.05, 1e-12);
    cr_expect_float_eq(one->mean[7], 0.5, 1e-12);
    cr_expect_float_eq(both->mean[1], 0.1, 1e-12);
    cr_expect_float_eq(both->mean[2], 0.6, 1e-12);
    cr_expect_float_eq(both->mean[3], 1.1, 1e-12);
    cr_expect_float_eq(both->mean[4], 0.3, 1e-12);
}

/* A busy time that ends beyond the room for batches joins them, and nothing is lost. */
Test(batches, keep_busy_times_when_they_are_joined)
{
    kvc_batches_busy(&batches, 0, 500, 300500);
    kvc_batches_report(&batches, 320000, result);
    kvc_batches_report_stage(&batches, "all", 1, 1, 320000, result);
    const struct kvc_batch_means *all = means_of("stages.all.utilization_frac");
    cr_assert_eq(all->count, 80);
    cr_expect_float_eq(gsl_stats_mean(all->mean, 1, 80), 300000.0 / 320000, 1e-12);
    cr_expect_float_eq(all->mean[0], 3500.0 / 4000, 1e-12);
    cr_expect_eq(all->mean[79], 0);
}

Test(batches, give_energy_as_if_the_run_were_alike)
{
    for (int i = 0; i < 10; i++) {
        struct kvc_batch_counts *batch = kvc_batches_at(&batches, 500 + 1000.0 * i);
        batch->completed = 100;
        batch->joules = 2e-5 * (1 + i % 2);
    }
    kvc_batches_report(&batches, 10000, result);
    cr_expect_float_eq(means_of("watts_mean")->mean[0], 20, 1e-9);
    cr_expect_float_eq(means_of("watts_mean")->mean[1], 40, 1e-9);
    cr_expect_float_eq(means_of("joules")->mean[1], 40 * 1e-5, 1e-12);
    cr_expect_float_eq(means_of("kops_per_watt")->mean[1], 1e5 / 40, 1e-6);
}

Test(batches, of_a_store_that_counts_nothing_as_sent_have_no_such_rate)
{
    kvc_batches_at(&batches, 500)->completed = 1;
    kvc_batches_report(&batches, 6000, result);
    cr_expect(isnan(means_of("offered_mops")->mean[0]));
    cr_expect(isnan(means_of("lost_frac")->mean[5]));
    cr_expect(isnan(means_of("hit_frac")->mean[5]));
    cr_expect_float_eq(means_of("throughput_mops")->mean[0], 1, 1e-12);
}

enum { BATCHES = 40, WINDOW_NS = 1000 };

/* Counters after each batch, from 0 on. */
struct counters {
    double part[BATCHES], whole[BATCHES];
};

/* Returns the half width that the ratios report for these counters. */
static double reported(const struct counters *counters, enum kvc_ratio_kind kind)
{
    struct kvc_result *ratio_result = calloc(1, sizeof(*ratio_result));
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
    kvc_ratios_report(&ratios, BATCHES, BATCHES * WINDOW_NS, ratio_result);
    cr_assert_eq(ratio_result->half_width_count, 1);
    cr_expect_str_eq(ratio_result->half_width[0].name, "stages.send.mean_us");
    double half_width = kvc_result_half_width(ratio_result, "stages.send.mean_us");
    kvc_ratios_close(&ratios);
    free(ratio_result);
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
