#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/metrics/recorder.h"
#include "sim/metrics/statistics.h"

/* Returns the first series that is not steady, wherever the steady part begins. */
static enum kvc_series unsteady(const struct kvc_window *windows, uint32_t count)
{
    uint32_t from;
    return kvc_windows_unsteady(windows, count, &from);
}

Test(recorder, measures_only_its_time)
{
    struct kvc_recorder *recorder = calloc(1, sizeof(*recorder));
    struct kvc_result *result = calloc(1, sizeof(*result));
    double sent[100], done[100];
    uint32_t first, last;
    kvc_recorder_open(recorder, 100, 1000, 2000);
    for (int batch = 0; batch < 40; batch++) {
        for (int i = 0; i < 100; i++) {
            done[i] = batch * 100 + i;
            sent[i] = done[i] - 10;
        }
        kvc_recorder_offered(recorder, sent, 100);
        kvc_recorder_dropped(recorder, sent, 3);
        kvc_recorder_latencies(recorder, batch * 100, sent, done, 100);
        kvc_recorder_completions(recorder, batch * 100, sent, done, 100, &first, &last);
        result->completed += last - first;
    }
    kvc_recorder_busy(recorder, 2, 500, 1500);
    kvc_recorder_busy(recorder, 2, 2900, 4000);
    kvc_recorder_busy(recorder, 2, 3500, 4000);
    cr_expect_eq(recorder->busy_ns[2], 600);
    cr_expect_not(kvc_recorder_check(recorder, 2999));
    cr_expect(kvc_recorder_check(recorder, 3000));
    kvc_recorder_report(recorder, result);
    cr_expect_eq(result->completed, 2000);
    cr_expect_eq(result->offered, 2000);
    cr_expect_eq(recorder->offered_in_all, 4000);
    cr_expect_eq(result->dropped, 60);
    cr_expect_eq(result->latency.count, 2000);
    cr_expect_eq(result->latency.min_ns, 10);
    cr_expect_float_eq(result->throughput_mops, 1000, 1e-9);
    cr_expect_eq(result->window_count, 20);
    cr_expect_float_eq(result->window_mops[7], 1000, 1e-3);
    kvc_recorder_close(recorder);
    free(recorder);
    free(result);
}

Test(recorder, waits_for_the_steady_state)
{
    struct kvc_recorder *recorder = calloc(1, sizeof(*recorder));
    kvc_recorder_open(recorder, 100, -1, 1000);
    for (int window = 0; window < 400 && !kvc_recorder_check(recorder, window * 100); window++) {
        double done = window * 100 + 50, sent = done - (window < 60 ? 100 - window : 40 + window % 3);
        uint32_t first, last;
        kvc_recorder_offered(recorder, &sent, 1);
        kvc_recorder_latencies(recorder, window * 100, &sent, &done, 1);
        kvc_recorder_completions(recorder, window * 100, &sent, &done, 1, &first, &last);
    }
    cr_expect_eq(recorder->unsteady, KVC_SERIES);
    cr_expect(recorder->from_ns > 6000 && recorder->from_ns < 30000, "%g", recorder->from_ns);
    cr_expect_eq(recorder->until_ns, recorder->from_ns + 1000);
    kvc_recorder_close(recorder);
    free(recorder);
}

/* Records a window of 100 ns in which requests are sent and answered, each after latency_ns. */
static void record_window(struct kvc_recorder *recorder, int window, uint32_t sent, uint32_t answered,
                          double latency_ns)
{
    double now_ns = window * 100, sent_ns[200], done_ns[200], began_ns[200];
    uint32_t first, last;
    for (uint32_t i = 0; i < 200; i++) {
        sent_ns[i] = now_ns + i * 100.0 / sent;
        done_ns[i] = now_ns + i * 100.0 / answered;
        began_ns[i] = done_ns[i] - latency_ns;
    }
    kvc_recorder_offered(recorder, sent_ns, sent);
    kvc_recorder_latencies(recorder, now_ns, began_ns, done_ns, answered);
    kvc_recorder_completions(recorder, now_ns, began_ns, done_ns, answered, &first, &last);
}

/* Throughput grows all the time. */
Test(recorder, waits_for_a_drift_until_the_limit_and_says_so)
{
    enum { LIMIT = 300 };
    struct kvc_recorder *recorder = calloc(1, sizeof(*recorder));
    struct kvc_result *result = calloc(1, sizeof(*result));
    kvc_recorder_open(recorder, 100, -1, 10000);
    recorder->warmup_most_ns = LIMIT * 100;
    for (int window = 0; !kvc_recorder_check(recorder, window * 100); window++) {
        cr_assert_lt(window, 2 * LIMIT);
        uint32_t requests = (uint32_t)(80 + window / 4);
        record_window(recorder, window, requests, requests, 50);
    }
    kvc_recorder_report(recorder, result);
    cr_expect(recorder->from_ns > LIMIT * 100 && recorder->from_ns < (LIMIT + 10) * 100, "%g",
              recorder->from_ns);
    cr_assert_eq(result->note_count, 2);
    cr_expect(strstr(result->note[0], "the throughput was not steady when measuring began"), "%s",
              result->note[0]);
    cr_expect(strstr(result->note[1], "the throughput drifted"), "%s", result->note[1]);
    kvc_recorder_close(recorder);
    free(recorder);
    free(result);
}

Test(recorder, an_overloaded_store_is_not_waited_for)
{
    struct kvc_recorder *recorder = calloc(1, sizeof(*recorder));
    struct kvc_result *result = calloc(1, sizeof(*result));
    kvc_recorder_open(recorder, 100, -1, 10000);
    for (int window = 0; !kvc_recorder_check(recorder, window * 100); window++) {
        cr_assert_lt(window, 400);
        record_window(recorder, window, 60, 50, 100 + window * 100 / 6.0);
    }
    kvc_recorder_report(recorder, result);
    cr_expect(recorder->from_ns > 200 * 100 && recorder->from_ns < 210 * 100, "%g", recorder->from_ns);
    cr_expect_float_eq(recorder->overload_frac, 1 / 6.0, 0.01);
    cr_expect_float_eq(result->growth_frac, 1 / 6.0, 0.01);
    cr_assert_eq(result->note_count, 1);
    cr_expect(strstr(result->note[0], "more requests are sent than answered"), "%s", result->note[0]);
    kvc_recorder_close(recorder);
    free(recorder);
    free(result);
}

/* Without a look for the end of the warm-up, too, unless the load changes on purpose. */
Test(recorder, tells_how_much_stays_behind_after_a_fixed_warm_up)
{
    struct kvc_recorder *recorder = calloc(1, sizeof(*recorder));
    struct kvc_result *result = calloc(1, sizeof(*result));
    kvc_recorder_open(recorder, 100, 1000, 10000);
    for (int window = 0; !kvc_recorder_check(recorder, window * 100); window++) {
        record_window(recorder, window, 60, 57, 100 + window * 5);
    }
    kvc_recorder_report(recorder, result);
    cr_expect_float_eq(result->growth_frac, 0.05, 0.005, "%g", result->growth_frac);
    recorder->changing = true;
    memset(result, 0, sizeof(*result));
    kvc_recorder_report(recorder, result);
    cr_expect_eq(result->growth_frac, 0);
    cr_expect(result->moves);
    kvc_recorder_close(recorder);
    free(recorder);
    free(result);
}

/* A batch of answers in every second window: the counts scatter too much to show what stays behind. */
Test(recorder, finds_a_backlog_behind_answers_in_bursts)
{
    struct kvc_recorder *recorder = calloc(1, sizeof(*recorder));
    struct kvc_result *result = calloc(1, sizeof(*result));
    kvc_recorder_open(recorder, 100, 1000, 3000);
    for (int window = 0; !kvc_recorder_check(recorder, window * 100); window++) {
        record_window(recorder, window, 60, window % 2 == 1 ? 2 * 54 : 0, 100 + window * 10);
    }
    kvc_recorder_report(recorder, result);
    cr_expect_float_eq(result->growth_frac, 0.1, 0.02, "%g", result->growth_frac);
    kvc_recorder_close(recorder);
    free(recorder);
    free(result);
}

/* Requests of two windows are answered late, and every tenth request of the second one is lost. */
Test(recorder, counts_requests_in_the_span_in_which_they_were_sent)
{
    struct kvc_recorder *recorder = calloc(1, sizeof(*recorder));
    struct kvc_result *result = calloc(1, sizeof(*result));
    kvc_recorder_open(recorder, 100, 1000, 2050);
    recorder->judged = (struct kvc_spans_request){1000, {50, NAN, 500, NAN}};
    for (int window = 0; window < 30; window++) {
        double latency_ns = window == 18 || window == 19 ? 600 : 40, sent_ns[100], done_ns[100];
        uint32_t first, last;
        for (int i = 0; i < 100; i++) {
            sent_ns[i] = window * 100 + i;
            done_ns[i] = sent_ns[i] + latency_ns;
        }
        kvc_recorder_offered(recorder, sent_ns, 100);
        kvc_recorder_dropped(recorder, sent_ns, window == 19 ? 10 : 0);
        kvc_recorder_latencies(recorder, window * 100, sent_ns, done_ns, window == 19 ? 90 : 100);
        kvc_recorder_completions(recorder, window * 100, sent_ns, done_ns, window == 19 ? 90 : 100, &first,
                                 &last);
        result->completed += last - first;
    }
    kvc_recorder_lookups(recorder, 2500, 10, 7);
    kvc_recorder_report(recorder, result);
    const struct kvc_span *span = result->spans.span;
    cr_assert_eq(result->spans.count, 2);
    cr_expect_float_eq(result->spans.last_us, 1.05, 1e-9, "the rest belongs to the last span");
    cr_expect_eq(span[0].offered + span[1].offered, result->offered);
    cr_expect_eq(span[0].completed + span[1].completed, result->completed);
    cr_expect(span[0].offered == 1000 && span[0].dropped == 10 && span[0].answered == 990);
    cr_expect(span[0].timed == 990 && span[0].over[0] == 190 && span[0].over[2] == 190);
    cr_expect(span[0].over[1] == 0 && span[1].over[2] == 0, "another limit, another span");
    cr_expect_eq(span[0].completed, 800 + 40, "those of the last two windows are answered in the other span");
    cr_expect(span[1].gets == 10 && span[1].hits == 7 && span[0].gets == 0);
    kvc_recorder_close(recorder);
    free(recorder);
    free(result);
}

/* Measured times that begin at different moments differ by rounding, but the spans of nodes are added up. */
Test(recorder, spans_of_nodes_are_the_same_whenever_they_begin)
{
    static struct kvc_spans spans, other;
    kvc_spans_open(&spans, 300, 1000);
    kvc_spans_open(&other, 300, 1000);
    kvc_spans_end(&other, nextafter(1000, 0));
    kvc_spans_add(&spans, &other, false);
    cr_expect_eq(spans.count, 3);
    kvc_spans_end(&spans, 650);
    cr_expect(spans.count == 2 && spans.last_us == 350, "a trace ends earlier");
}

static void sample(struct kvc_recorder *recorder, double now_ns, const struct kvc_ratio *ratio)
{
    kvc_recorder_sample_begin(recorder, now_ns);
    kvc_recorder_sample(recorder, ratio, 1);
}

/* A counter grows at two rates in turn. */
Test(recorder, divides_counters_and_energy_among_batches)
{
    struct kvc_recorder *recorder = calloc(1, sizeof(*recorder));
    struct kvc_result *result = calloc(1, sizeof(*result));
    struct kvc_ratio ratio = {"kernel", NULL, "lines_per_read", 7, 3, KVC_RATIO_OF_COUNTS};
    double joules = 0;
    kvc_recorder_open(recorder, 100, 1000, 2000);
    sample(recorder, 1000, &ratio);
    kvc_recorder_joules(recorder, 1000, joules);
    for (int window = 0; window < 21; window++) { /* The last one is not measured. */
        ratio.part += window % 2 == 0 ? 10 : 20;
        ratio.whole += 5;
        joules += 3e-6;
        sample(recorder, 1100 + 100 * window, &ratio);
        kvc_recorder_joules(recorder, 1100 + 100 * window, joules);
    }
    kvc_recorder_report(recorder, result);
    double lines[20];
    for (int i = 0; i < 20; i++) {
        lines[i] = i % 2 == 0 ? 2 : 4;
    }
    cr_expect_float_eq(kvc_result_half_width(result, "kernel.lines_per_read"),
                       kvc_interval_of_batches(lines, 20).half_width, 1e-12);
    cr_expect_float_eq(kvc_result_batch_means(result, "watts_mean")->mean[19], 30, 1e-6);
    kvc_recorder_close(recorder);
    free(recorder);
    free(result);
}

Test(recorder, reports_a_stage_by_its_busy_time)
{
    struct kvc_recorder *recorder = calloc(1, sizeof(*recorder));
    struct kvc_result *result = calloc(1, sizeof(*result));
    kvc_recorder_open(recorder, 100, 1000, 2000);
    result->completed = 7;
    kvc_recorder_busy(recorder, 3, 1000, 2000);
    kvc_recorder_busy(recorder, 5, 1200, 1700);
    const struct kvc_stage_result *stage =
        kvc_recorder_report_stage(recorder, "send", "cpu", 1u << 3 | 1u << 5, 3, result);
    cr_expect_eq(stage, &result->stage[0]);
    cr_expect_str_eq(stage->name, "send");
    cr_expect_str_eq(stage->device, "cpu");
    cr_expect_float_eq(stage->utilization_frac, 0.25, 1e-12);
    cr_expect_float_eq(stage->busy_s, 1.5e-6, 1e-15);
    cr_expect_eq(stage->served, 7);
    kvc_recorder_close(recorder);
    free(recorder);
    free(result);
}

enum { WINDOWS = 400, REQUESTS = 10000, FIRST_LOOK = 50, BETWEEN_LOOKS = 10 };

/* Returns about N(mean, sd^2). */
static double normal(struct kvc_rng *rng, double mean, double sd)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        sum += kvc_rng_unit(rng);
    }
    return mean + sd * sum;
}

/* Fills in windows of a store that is steady in everything. */
static void fill_steady(struct kvc_window *windows, uint64_t seed)
{
    struct kvc_rng rng;
    double backlog = 300, before = 0;
    kvc_rng_init(&rng, seed, "steadiness", 0);
    for (int i = 0; i < WINDOWS; i++) {
        double offered = floor(normal(&rng, REQUESTS, 100));
        double after = floor(normal(&rng, backlog, 20));
        windows[i] = (struct kvc_window){.offered = (uint64_t)offered,
                                         .completed = (uint64_t)(offered + before - after),
                                         .gets = REQUESTS,
                                         .hits = (uint64_t)normal(&rng, 0.9 * REQUESTS, 30)};
        windows[i].latency_ns = (double)windows[i].completed * normal(&rng, 2e5, 2e3);
        before = after;
    }
}

Test(steady_state, a_steady_store_is_found_steady)
{
    int steady = 0, drifts = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct kvc_window windows[WINDOWS];
        fill_steady(windows, seed);
        steady += unsteady(windows, WINDOWS) == KVC_SERIES;
        for (int series = 0; series < KVC_SERIES; series++) {
            drifts += kvc_windows_drift(windows, 100, 300, (enum kvc_series)series).significant;
        }
    }
    cr_expect_geq(steady, 30, "%d of 40", steady);
    cr_expect_eq(drifts, 0);
}

Test(steady_state, a_store_that_answers_nothing_is_not_steady)
{
    for (int stall = WINDOWS / 4; stall <= WINDOWS * 3 / 4; stall += WINDOWS / 4) {
        struct kvc_window windows[WINDOWS];
        fill_steady(windows, 3);
        memset(&windows[WINDOWS - stall], 0, (size_t)stall * sizeof(*windows));
        cr_expect_neq(unsteady(windows, WINDOWS), KVC_SERIES, "%d of %d windows", stall, WINDOWS);
    }
}

Test(steady_state, each_series_can_be_the_unsteady_one)
{
    for (int series = 0; series < KVC_SERIES; series++) {
        struct kvc_window windows[WINDOWS];
        fill_steady(windows, 3);
        for (int i = 0; i < WINDOWS; i++) {
            switch (series) {
            case KVC_SERIES_THROUGHPUT: /* Clients that send less and less, as much as is answered. */
                windows[i].offered -= 5 * (uint64_t)i;
                windows[i].completed -= 5 * (uint64_t)i;
                windows[i].latency_ns = (double)windows[i].completed * 2e5;
                break;
            case KVC_SERIES_HIT_RATIO:
                windows[i].hits -= 3 * (uint64_t)i;
                break;
            case KVC_SERIES_BACKLOG: /* A queue grows although its head is served as before. */
                windows[i].offered += 30;
                break;
            case KVC_SERIES_LEAD: /* Clients run ahead; all else is steady. */
                windows[i].lead = 150.0 * i;
                break;
            default:
                windows[i].latency_ns *= 1 + i / 1000.0;
            }
        }
        cr_expect_eq((int)unsteady(windows, WINDOWS), series, "%s", kvc_series_names[series]);
        struct kvc_drift drift = kvc_windows_drift(windows, 100, 300, (enum kvc_series)series);
        cr_expect(drift.significant || series == KVC_SERIES_LEAD, "%s: %g, %g", kvc_series_names[series],
                  drift.first, drift.second);
    }
}

/* The hit ratio of a store that fills: it falls for seconds, by little in each window. */
Test(steady_state, a_slow_decay_is_not_steady_until_it_ends)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct kvc_window windows[WINDOWS];
        fill_steady(windows, seed);
        for (int i = 0; i < WINDOWS; i++) {
            windows[i].hits -= (uint64_t)(1000 * (1 - exp(-i / 300.0)));
        }
        cr_expect_eq(unsteady(windows, WINDOWS), KVC_SERIES_HIT_RATIO);
        cr_expect(kvc_windows_drift(windows, 0, WINDOWS, KVC_SERIES_HIT_RATIO).significant);
    }
}

/* Fills in windows of a store whose throughput alone varies. */
static void fill_throughput(struct kvc_window *windows, const double *value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t requests = (uint64_t)(REQUESTS * value[i]);
        windows[i] = (struct kvc_window){
            .offered = requests, .completed = requests, .latency_ns = 1e5 * (double)requests};
    }
}

/* Returns the first look that finds the windows steady, or 0. */
static uint32_t steady_after(const struct kvc_window *windows, uint32_t count)
{
    for (uint32_t look = FIRST_LOOK; look <= count; look += BETWEEN_LOOKS) {
        if (unsteady(windows, look) == KVC_SERIES) {
            return look;
        }
    }
    return 0;
}

/* Returns the first look after which MSER-5 alone accepts a series, or 0. */
static uint32_t accepted_by_mser(const double *value, uint32_t count)
{
    for (uint32_t look = FIRST_LOOK; look <= count; look += BETWEEN_LOOKS) {
        if (kvc_mser5(value, look) >= 0) {
            return look;
        }
    }
    return 0;
}

/* Throughput rises from 80 % to its steady value. MSER-5 alone accepts it soon, because single windows vary
 * as much as it still has to rise. */
Test(steady_state, a_slow_approach_is_refused_until_it_has_settled)
{
    enum { SEEDS = 100, SETTLING = 40 };
    double mser_left_frac = 0, left_frac = 0;
    int late = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct kvc_window windows[WINDOWS];
        double value[WINDOWS];
        struct kvc_rng rng;
        kvc_rng_init(&rng, seed, "approach", 0);
        for (int i = 0; i < WINDOWS; i++) {
            value[i] = normal(&rng, 1 - 0.2 * exp(-(double)i / SETTLING), 0.02);
        }
        fill_throughput(windows, value, WINDOWS);
        mser_left_frac += 0.2 * exp(-(double)accepted_by_mser(value, WINDOWS) / SETTLING) / SEEDS;
        left_frac += 0.2 * exp(-(double)steady_after(windows, WINDOWS) / SETTLING) / SEEDS;
        late += unsteady(windows, WINDOWS) == KVC_SERIES;
    }
    cr_expect_gt(mser_left_frac, 0.025, "%g", mser_left_frac);
    cr_expect_lt(left_frac, 0.01, "%g", left_frac);
    cr_expect_gt(late, 75, "%d of %d", late, SEEDS);
}

/* Clients fill their windows, and the latency rises until they have. Then the store's cycle of nearly three
 * windows remains, without a trend. The means that MSER-5 compares repeat, so it often finds its last few
 * closer to each other than all of the second half. */
Test(steady_state, a_cycle_does_not_delay_the_end_of_a_ramp)
{
    enum { RAMP = 50 };
    static const double cycle_us[] = {-60, 0, 70};
    double value[WINDOWS];
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct kvc_window windows[WINDOWS];
        struct kvc_rng rng;
        kvc_rng_init(&rng, seed, "cycle", 0);
        fill_steady(windows, seed);
        for (int i = 0; i < WINDOWS; i++) {
            value[i] = normal(&rng, 3600 - 66 * fmax(RAMP - i, 0), 5) + cycle_us[(int)(1.07 * i) % 3];
            windows[i].latency_ns = 1e3 * value[i] * (double)windows[i].completed;
        }
        uint32_t steady = steady_after(windows, WINDOWS);
        cr_expect(steady > RAMP && steady <= 2 * RAMP + 40, "seed %d: %u windows", (int)seed, steady);
    }
}

/* Throughput doubles after 12 windows. */
Test(steady_state, begins_where_the_series_changed_last)
{
    enum { STEP = 12 };
    double value[WINDOWS];
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct kvc_window windows[WINDOWS];
        struct kvc_rng rng;
        uint32_t from;
        kvc_rng_init(&rng, seed, "step", 0);
        for (int i = 0; i < WINDOWS; i++) {
            value[i] = normal(&rng, i < STEP ? 50 : 100, 1);
        }
        fill_throughput(windows, value, WINDOWS);
        cr_expect_eq((int)kvc_windows_unsteady(windows, FIRST_LOOK, &from), KVC_SERIES);
        cr_expect(from >= STEP && from <= FIRST_LOOK / 2, "seed %d: %u", (int)seed, from);
    }
}

/* A pipeline that pauses in every tenth window while its throughput falls by 1.5 % in ten. The pauses scatter
 * the parts of the halves so much that the halves differ by chance only. */
Test(steady_state, a_cycle_does_not_hide_a_drift)
{
    struct kvc_window windows[WINDOWS];
    double value[WINDOWS];
    int hidden = 0;
    for (int i = 0; i < WINDOWS; i++) {
        value[i] = (i % 10 == 7 ? 0.4 : 1) * (1 - 0.0015 * i);
    }
    fill_throughput(windows, value, WINDOWS);
    for (uint32_t look = 80; look <= WINDOWS; look += BETWEEN_LOOKS) {
        struct kvc_drift drift = kvc_windows_drift(windows, look / 2, look - look / 2, KVC_SERIES_THROUGHPUT);
        hidden += kvc_mser5(value, look) >= 0 && !drift.significant;
        cr_expect_eq(unsteady(windows, look), KVC_SERIES_THROUGHPUT, "%u windows", look);
    }
    cr_expect_geq(hidden, 10, "%d looks", hidden);
    for (int i = 0; i < WINDOWS; i++) { /* Pauses alone are steady. */
        value[i] = i % 10 == 7 ? 0.4 : 1;
    }
    fill_throughput(windows, value, WINDOWS);
    cr_expect_eq(unsteady(windows, WINDOWS), KVC_SERIES);
}

/* Results of looks at stationary noise, in which each value keeps a part of the deviation of the one before.
 */
struct looks {
    double refused_frac; /* Share of the series that a trend by chance refuses. */
    double windows;      /* Mean windows until a look finds the noise steady. */
    double mser_windows; /* Mean windows until MSER-5 alone accepts it. */
    int never;           /* Series that are never steady. */
};

static struct looks look_at_noise(double kept_frac)
{
    enum { SEEDS = 500, LOOK = 100 };
    struct looks looks = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct kvc_window windows[WINDOWS];
        double value[WINDOWS], deviation = 0;
        struct kvc_rng rng;
        kvc_rng_init(&rng, seed, "stationary", 0);
        for (int i = -LOOK; i < WINDOWS; i++) {
            deviation = kept_frac * deviation + normal(&rng, 0, 0.1 * sqrt(1 - kept_frac * kept_frac));
            value[i < 0 ? 0 : i] = 1 + deviation;
        }
        fill_throughput(windows, value, WINDOWS);
        looks.refused_frac += (unsteady(windows, LOOK) != KVC_SERIES) / (double)SEEDS;
        looks.windows += (double)steady_after(windows, WINDOWS) / SEEDS;
        looks.mser_windows += (double)accepted_by_mser(value, WINDOWS) / SEEDS;
        looks.never += steady_after(windows, WINDOWS) == 0;
    }
    return looks;
}

/* Two standard errors of a line through ten parts are exceeded by chance in 8 % of the cases, a little less
 * in what MSER-5 keeps of independent noise. */
Test(steady_state, stationary_noise_is_refused_rarely)
{
    static const struct {
        double kept_frac, refused_most_frac, windows_most;
    } cases[] = {{0, 0.08, 1}, {0.5, 0.12, 1}, {0.8, 0.2, 1}, {0.9, 0.33, 2}, {0.95, 0.43, 4}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct looks looks = look_at_noise(cases[i].kept_frac);
        cr_expect_lt(looks.refused_frac, cases[i].refused_most_frac, "case %zu: %g", i, looks.refused_frac);
        cr_expect_gt(looks.refused_frac, 0.02, "case %zu: %g", i, looks.refused_frac);
        cr_expect_lt(looks.windows - looks.mser_windows, cases[i].windows_most, "case %zu: %g after %g", i,
                     looks.windows, looks.mser_windows);
        cr_expect_eq(looks.never, 0);
    }
}

/* Clients run ahead until a window is full: throughput falls later, by the growth of the lead. */
Test(steady_state, a_lead_counts_while_it_grows)
{
    static const struct {
        double growth;
        int full_after;
        bool steady;
    } cases[] = {{150, WINDOWS, false},
                 {50, WINDOWS, true},
                 {-150, WINDOWS, true},
                 {300, 300, false},
                 {150, 200, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct kvc_window windows[WINDOWS];
        struct kvc_rng rng;
        fill_steady(windows, 3);
        kvc_rng_init(&rng, i, "lead", 0);
        for (int j = 0; j < WINDOWS; j++) {
            double grown = fmin(j, cases[i].full_after) * cases[i].growth;
            windows[j].lead = fmax(grown, 0) + normal(&rng, 500, 100);
        }
        cr_expect_eq(unsteady(windows, WINDOWS), cases[i].steady ? KVC_SERIES : KVC_SERIES_LEAD, "case %zu",
                     i);
    }
}

Test(steady_state, windows_without_answers_change_nothing)
{
    struct kvc_window windows[WINDOWS];
    fill_steady(windows, 5);
    for (int i = 0; i < WINDOWS; i++) {
        windows[i] =
            i % 3 == 0
                ? (struct kvc_window){.offered = 3, .completed = 3, .gets = 3, .hits = 2, .latency_ns = 6e5}
                : (struct kvc_window){0};
    }
    cr_expect_eq(unsteady(windows, WINDOWS), KVC_SERIES);
}

Test(steady_state, too_few_windows_show_no_drift)
{
    struct kvc_window windows[WINDOWS];
    fill_steady(windows, 6);
    cr_expect_not(kvc_windows_drift(windows, 0, 19, KVC_SERIES_THROUGHPUT).significant);
    cr_expect(isnan(kvc_windows_drift(windows, 0, 19, KVC_SERIES_THROUGHPUT).first));
}

Test(steady_state, overload_is_what_stays_behind)
{
    struct kvc_window windows[WINDOWS];
    fill_steady(windows, 7);
    cr_expect_eq(kvc_windows_overload_frac(windows, WINDOWS), 0);
    for (int i = 0; i < WINDOWS; i++) {
        windows[i].offered += REQUESTS / 20;
    }
    cr_expect_float_eq(kvc_windows_overload_frac(windows, WINDOWS), 0.05 / 1.05, 0.005);
    for (int i = 0; i < WINDOWS; i++) {
        windows[i].dropped += REQUESTS / 20;
    }
    cr_expect_eq(kvc_windows_overload_frac(windows, WINDOWS), 0, "what is dropped does not stay");
}
