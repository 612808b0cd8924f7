#include "sim/metrics/recorder.h"

#include <criterion/criterion.h>

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

/* Counters and energy grow at a rate that changes in the middle. */
Test(recorder, divides_counters_and_energy_among_batches)
{
    struct kvc_recorder *recorder = calloc(1, sizeof(*recorder));
    struct kvc_result *result = calloc(1, sizeof(*result));
    struct kvc_ratio ratio = {"kernel", "lines_per_read", 7, 3};
    double joules = 0;
    cr_assert_eq(kvc_recorder_open(recorder, 100, 1000, 2000, NULL), KVC_OK);
    kvc_recorder_ratios(recorder, 1000, &ratio, 1);
    kvc_recorder_joules(recorder, 1000, joules);
    for (int window = 0; window < 21; window++) { /* The last one is not measured. */
        ratio.part += window < 10 ? 10 : 20;
        ratio.whole += 5;
        joules += 3e-6;
        kvc_recorder_ratios(recorder, 1100 + 100 * window, &ratio, 1);
        kvc_recorder_joules(recorder, 1100 + 100 * window, joules);
    }
    kvc_recorder_report(recorder, result);
    const struct kvc_batch_means *lines = kvc_result_batch_means(result, "kernel.lines_per_read");
    cr_assert_eq(lines->count, 20);
    cr_expect_float_eq(lines->mean[0], 2, 1e-12);
    cr_expect_float_eq(lines->mean[19], 4, 1e-12);
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
