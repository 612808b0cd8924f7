#include "sim/metrics/recorder.h"

#include <criterion/criterion.h>
#include <string.h>

#include "sim/metrics/statistics.h"

Test(recorder, measures_only_its_time)
{
    struct kvc_recorder *recorder = calloc(1, sizeof(*recorder));
    struct kvc_result *result = calloc(1, sizeof(*result));
    double sent[100], done[100];
    uint32_t first, last;
    struct kvc_diag diag;
    cr_assert_eq(kvc_recorder_open(recorder, 100, 1000, 2000, &diag), KVC_OK);
    for (int batch = 0; batch < 40; batch++) {
        for (int i = 0; i < 100; i++) {
            done[i] = batch * 100 + i;
            sent[i] = done[i] - 10;
        }
        kvc_recorder_offered(recorder, sent, 100);
        kvc_recorder_dropped(recorder, sent, 3);
        kvc_recorder_latencies(recorder, batch * 100, sent, done, 100);
        kvc_recorder_completions(recorder, batch * 100, done, 100, &first, &last);
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
    struct kvc_diag diag;
    cr_assert_eq(kvc_recorder_open(recorder, 100, -1, 1000, &diag), KVC_OK);
    for (int window = 0; window < 400 && !kvc_recorder_check(recorder, window * 100); window++) {
        double done = window * 100 + 50, sent = done - (window < 60 ? 100 - window : 40 + window % 3);
        uint32_t first, last;
        kvc_recorder_offered(recorder, &sent, 1);
        kvc_recorder_latencies(recorder, window * 100, &sent, &done, 1);
        kvc_recorder_completions(recorder, window * 100, &done, 1, &first, &last);
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
    kvc_recorder_completions(recorder, now_ns, done_ns, answered, &first, &last);
}

/* Throughput grows all the time. */
Test(recorder, waits_for_a_drift_until_the_limit_and_says_so)
{
    enum { LIMIT = 300 };
    struct kvc_recorder *recorder = calloc(1, sizeof(*recorder));
    struct kvc_result *result = calloc(1, sizeof(*result));
    cr_assert_eq(kvc_recorder_open(recorder, 100, -1, 10000, NULL), KVC_OK);
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
    cr_assert_eq(kvc_recorder_open(recorder, 100, -1, 10000, NULL), KVC_OK);
    for (int window = 0; !kvc_recorder_check(recorder, window * 100); window++) {
        cr_assert_lt(window, 400);
        record_window(recorder, window, 60, 50, 100 + window * 100 / 6.0);
    }
    kvc_recorder_report(recorder, result);
    cr_expect(recorder->from_ns > 200 * 100 && recorder->from_ns < 210 * 100, "%g", recorder->from_ns);
    cr_expect_float_eq(recorder->overload_frac, 1 / 6.0, 0.01);
    cr_assert_eq(result->note_count, 1);
    cr_expect(strstr(result->note[0], "more requests are sent than answered"), "%s", result->note[0]);
    kvc_recorder_close(recorder);
    free(recorder);
    free(result);
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
    cr_assert_eq(kvc_recorder_open(recorder, 100, 1000, 2000, NULL), KVC_OK);
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
    cr_assert_eq(kvc_recorder_open(recorder, 100, 1000, 2000, NULL), KVC_OK);
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
