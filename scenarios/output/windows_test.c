#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "scenarios/output/windows.h"

enum { WINDOWS = 20, REQUESTS = 1000 };

/* A device is off from 0.5 ms to 0.7 ms of 2 ms, which are 20 windows. */
static struct kvc_loaded outage(void)
{
    struct kvc_loaded loaded = {.slo = kvc_slo_none};
    loaded.scenario.workload.arrival = KVC_ARRIVAL_POISSON;
    loaded.scenario.run.change_count = 1;
    loaded.scenario.run.changes[0] =
        (struct kvc_change){.at_ns = 5e5, .device = "node0.gpu", .clock_hz = NAN, .off_ns = 2e5};
    return loaded;
}

/* Returns spans of 100 us, in each of which all requests are answered in time. */
static struct kvc_spans *steady(void)
{
    struct kvc_spans *spans = calloc(1, sizeof(*spans));
    cr_assert_not_null(spans);
    kvc_spans_open(spans, 100, 2000);
    for (uint32_t i = 0; i < WINDOWS; i++) {
        spans->span[i] = (struct kvc_span){.offered = REQUESTS,
                                           .answered = REQUESTS,
                                           .timed = REQUESTS,
                                           .completed = REQUESTS + i % 3,
                                           .gets = REQUESTS,
                                           .hits = REQUESTS};
    }
    return spans;
}

static const struct kvc_window_worst *worst_of(const struct kvc_slo_windows *windows,
                                               enum kvc_objective objective)
{
    for (uint32_t i = 0; i < windows->worst_count; i++) {
        if (windows->worst[i].judged.objective == objective) {
            return &windows->worst[i];
        }
    }
    cr_assert_fail("no objective %d", (int)objective);
    return NULL;
}

/* The requests of windows 5 to 7 are late, and no answer falls into window 6. */
Test(windows, find_the_worst_one_and_the_time_to_recover)
{
    struct kvc_loaded loaded = outage();
    struct kvc_outcome *outcome = kvc_outcome_create(1);
    struct kvc_spans *spans = outcome->spans[0] = steady();
    loaded.slo.p99_ns = 1e5;
    for (uint32_t i = 5; i <= 7; i++) {
        spans->span[i].over[KVC_OBJECTIVE_P99] = i == 6 ? 400 : 20;
    }
    spans->span[6].completed = 0;
    struct kvc_slo_windows windows = kvc_slo_windows_of(&loaded, outcome);
    const struct kvc_window_worst *late = worst_of(&windows, KVC_OBJECTIVE_P99);
    cr_assert_eq(windows.count, WINDOWS);
    cr_expect_float_eq(late->judged.found, 0.4, 1e-12);
    cr_expect_eq(late->judged.state, KVC_SLO_MISSED);
    cr_expect_float_eq(late->from_us, 600, 1e-9);
    cr_expect_eq(worst_of(&windows, KVC_OBJECTIVE_MOPS)->judged.found, 0);
    cr_expect_eq(worst_of(&windows, KVC_OBJECTIVE_LOSS)->judged.state, KVC_SLO_MET);
    cr_expect_float_eq(windows.missed_us.mean, 300, 1e-9);
    cr_expect(isnan(windows.missed_us.half_width), "one replica tells no interval");
    cr_assert_eq(windows.change_count, 1);
    cr_expect_str_eq(windows.change[0].what, "node0.gpu off for 200us");
    cr_expect_float_eq(windows.change[0].recover_us.mean, 300, 1e-9);
    cr_expect_lt(windows.margin_frac, -1);
    kvc_outcome_free(outcome);
}

/* 30 requests that were sent in the last windows have no answer: they have waited for up to 400 us. */
Test(windows, requests_without_an_answer_are_late_once_they_waited_too_long)
{
    struct kvc_loaded loaded = outage();
    struct kvc_outcome *outcome = kvc_outcome_create(1);
    struct kvc_spans *spans = outcome->spans[0] = steady();
    loaded.slo.p99_ns = 250e3;
    for (uint32_t i = 16; i < WINDOWS; i++) {
        spans->span[i].answered = spans->span[i].timed = REQUESTS - 30;
    }
    struct kvc_slo_windows windows = kvc_slo_windows_of(&loaded, outcome);
    cr_expect_float_eq(worst_of(&windows, KVC_OBJECTIVE_P99)->judged.found, 0.03, 1e-12);
    cr_expect_float_eq(windows.missed_us.mean, 100, 1e-9, "only those of window 16 have waited for 250 us");
    cr_expect_eq(windows.change[0].recovered, 0, "the requests of later windows still wait");
    for (uint32_t i = 17; i < WINDOWS; i++) {
        spans->span[i].answered = spans->span[i].timed = REQUESTS;
    }
    windows = kvc_slo_windows_of(&loaded, outcome);
    cr_expect_float_eq(windows.change[0].recover_us.mean, 1200, 1e-9);
    spans->span[WINDOWS - 1].dropped = 30;
    windows = kvc_slo_windows_of(&loaded, outcome);
    cr_expect_eq(windows.change[0].recovered, 0, "the last window loses requests");
    cr_expect(isnan(windows.change[0].recover_us.mean));
    kvc_outcome_free(outcome);
}

Test(windows, of_replicas_have_intervals)
{
    struct kvc_loaded loaded = outage();
    struct kvc_outcome *outcome = kvc_outcome_create(3);
    loaded.slo.loss_frac = 0.01;
    for (uint32_t i = 0; i < 3; i++) {
        outcome->spans[i] = steady();
        for (uint32_t k = 5; k < 6 + i; k++) {
            outcome->spans[i]->span[k].dropped = 100 * (i + 1);
        }
    }
    struct kvc_slo_windows windows = kvc_slo_windows_of(&loaded, outcome);
    const struct kvc_window_worst *lost = worst_of(&windows, KVC_OBJECTIVE_LOSS);
    cr_expect_float_eq(lost->judged.found, 0.2, 1e-12);
    cr_expect_gt(lost->judged.half_width, 0.1);
    cr_expect_not(lost->judged.is_sure);
    cr_expect_float_eq(windows.missed_us.mean, 200, 1e-9);
    cr_expect_gt(windows.missed_us.half_width, 100);
    cr_expect_float_eq(windows.change[0].recover_us.mean, 200, 1e-9);
    kvc_outcome_free(outcome);
}

/* The throughput is 9.99 to 10.02 Mops until the outage. */
Test(windows, without_an_objective_compare_with_the_throughput_before)
{
    struct kvc_loaded loaded = outage();
    struct kvc_outcome *outcome = kvc_outcome_create(1);
    struct kvc_spans *spans = outcome->spans[0] = steady();
    spans->span[5].completed = 500;
    spans->span[6].completed = 100;
    spans->span[7].completed = 2400;
    struct kvc_slo_windows windows = kvc_slo_windows_of(&loaded, outcome);
    cr_expect(windows.by_throughput && windows.low_mops > 9 && windows.high_mops < 11, "%g to %g",
              windows.low_mops, windows.high_mops);
    cr_expect_float_eq(windows.missed_us.mean, 300, 1e-9, "until the backlog is served, too");
    cr_expect_float_eq(windows.change[0].recover_us.mean, 300, 1e-9);
    cr_expect(isnan(windows.margin_frac));
    spans->span[9].dropped = 1;
    windows = kvc_slo_windows_of(&loaded, outcome);
    cr_expect_float_eq(windows.change[0].recover_us.mean, 500, 1e-9, "none was lost before");
    loaded.scenario.run.changes[0].at_ns = 2e5;
    windows = kvc_slo_windows_of(&loaded, outcome);
    cr_expect(isnan(windows.missed_us.mean), "two windows do not tell what is usual");
    kvc_outcome_free(outcome);
}

Test(windows, decide_the_verdict)
{
    struct kvc_slo slo = kvc_slo_none;
    struct kvc_slo_values values = {.value = {100, 200, 300, 400, 80, 0, 0.9, 500, 20000}};
    slo.p99_ns = 400e3;
    values.window_margin_frac = -0.1;
    cr_expect_eq(kvc_slo_verdict_of(&slo, &values).state, KVC_SLO_MISSED,
                 "the run meets it, a window does not");
    values.window_margin_frac = NAN;
    cr_expect_eq(kvc_slo_verdict_of(&slo, &values).state, KVC_SLO_MET);
    slo.window_ns = 1e6;
    cr_expect_eq(kvc_slo_verdict_of(&slo, &values).state, KVC_SLO_UNKNOWN, "a closed form has no windows");
    values.window_margin_frac = 0;
    cr_expect_eq(kvc_slo_verdict_of(&slo, &values).state, KVC_SLO_MET);
}
