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

Test(recorder, reports_a_stage_by_its_busy_time)
{
    struct kvc_recorder *recorder = calloc(1, sizeof(*recorder));
    struct kvc_result *result = calloc(1, sizeof(*result));
    cr_assert_eq(kvc_recorder_open(recorder, 100, 1000, 2000, NULL), KVC_OK);
    result->completed = 7;
    const struct kvc_stage_result *stage =
        kvc_recorder_report_stage(recorder, "send", "cpu", 1500, 3, result);
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
