/* Reports a run of a store whose throughput, latency and utilization in every window are known. */
#include "sim/probes/watched_report.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { WINDOWS = 60, LEAST = 10, SLOW = 4 /* Mops of a disturbed window. */ };

static struct kvc_watched watched;
static struct kvc_result result;

/* Throughput by window [Mops]. The latency of a window's only request is as many microseconds. */
static double mops[WINDOWS];

static struct kvc_quiet_flow flow_of(const void *data, uint32_t window)
{
    (void)data;
    return (struct kvc_quiet_flow){.caught_up = true, .oldest_sent_ns = (window + 0.5) * kvc_quiet_window_ns};
}

static void add_up(const void *data, const bool *wanted, struct kvc_histogram *latency,
                   struct kvc_watched_part *part)
{
    const double *by_window = data, sent_ns = 0;
    double sum = 0;
    uint32_t count = 0;
    kvc_histogram_reset(latency);
    for (uint32_t i = 0; i < watched.count; i++) {
        if (wanted[i]) {
            double done_ns = by_window[i] * 1e3;
            kvc_histogram_record(latency, &sent_ns, &done_ns, 1);
            sum += by_window[i];
            count++;
        }
    }
    *part = (struct kvc_watched_part){
        .mops = sum / count, .value = {sum / count, NAN}, .utilization_frac = {0.95, 0.2}};
}

static void report(const void *data, const bool *wanted, struct kvc_result *filled)
{
    struct kvc_watched_part part;
    add_up(data, wanted, &filled->latency, &part);
    filled->throughput_mops = part.mops;
    kvc_result_add_stage(filled, "busy", "cpu", part.utilization_frac[0]);
    kvc_result_add_stage(filled, "idle", "cpu", part.utilization_frac[1]);
}

static void open_run(void)
{
    kvc_watched_plan(&watched, LEAST * kvc_quiet_window_ns);
    cr_assert_geq(watched.room, WINDOWS);
    cr_assert_eq(kvc_watched_open(&watched, 1, 0, NULL), KVC_OK);
    atomic_store(&watched.watch[0].done, WINDOWS);
    memset(&result, 0, sizeof(result));
    for (uint32_t i = 0; i < WINDOWS; i++) {
        mops[i] = 8 + i % 3;
    }
}

static void close_run(void)
{
    kvc_watched_close(&watched);
}

TestSuite(watched_report, .init = open_run, .fini = close_run);

static void disturb(uint32_t window)
{
    watched.watch[0].window[window].lost_ns = (float)kvc_quiet_window_ns;
    mops[window] = SLOW;
}

static void report_from(uint32_t first)
{
    static const char *const names[] = {"own_half_frac", "unknown_half_frac"};
    const struct kvc_watched_store store = {.data = mops,
                                            .flow_of = flow_of,
                                            .first = first,
                                            .add_up = add_up,
                                            .report = report,
                                            .values = 2,
                                            .half_widths = names};
    kvc_watched_report(&watched, &store, &result);
}

static double metric(const char *name)
{
    return kvc_metrics_get(&result.model, name);
}

Test(watched_report, disturbed_windows_count_in_the_raw_metrics_only)
{
    for (uint32_t i = 0; i < WINDOWS; i += 6) {
        disturb(i);
    }
    report_from(0);
    double quiet = (2 * 9 + 2 * 10 + 8) / 5.0;
    cr_expect_float_eq(result.throughput_mops, quiet, 1e-9);
    cr_expect_float_eq(metric("raw_throughput_mops"), (5 * quiet + SLOW) / 6, 1e-9);
    cr_expect_eq(result.latency.count, WINDOWS - WINDOWS / 6, "the latencies are those of quiet windows");
    cr_expect_float_eq(metric("quiet_frac"), 5.0 / 6, 1e-9);
    cr_expect_eq(metric("windows"), WINDOWS);
    cr_expect_eq(result.note_count, 0);
}

Test(watched_report, without_a_quiet_window_all_count_but_have_no_intervals)
{
    for (uint32_t i = 0; i < WINDOWS; i++) {
        disturb(i);
    }
    report_from(0);
    cr_expect_eq(result.throughput_mops, SLOW);
    cr_expect_eq(metric("quiet_frac"), 0);
    cr_expect(isnan(metric("throughput_half_frac")));
    cr_assert_eq(result.note_count, 1);
    cr_expect_not_null(strstr(result.note[0], "none of the 60 windows"));
}

Test(watched_report, few_quiet_windows_are_noted)
{
    for (uint32_t i = 3; i < WINDOWS; i++) {
        disturb(i);
    }
    report_from(0);
    cr_expect_float_eq(result.throughput_mops, 9, 1e-9);
    cr_assert_eq(result.note_count, 1);
    cr_expect_not_null(strstr(result.note[0], "only 3 of the 60 windows"));
}

Test(watched_report, intervals_come_from_batches_of_neighbours)
{
    double batch[KVC_QUIET_BATCHES] = {0};
    for (uint32_t i = 0; i < WINDOWS; i++) {
        mops[i] = 8 + (i * i) % 7;
        batch[i / (WINDOWS / KVC_QUIET_BATCHES)] += mops[i] / (WINDOWS / KVC_QUIET_BATCHES);
    }
    report_from(0);
    double half_frac = kvc_quiet_half_width(batch, KVC_QUIET_BATCHES) / result.throughput_mops;
    cr_assert_gt(half_frac, 0);
    cr_expect_float_eq(metric("throughput_half_frac"), half_frac, 1e-9);
    cr_expect_float_eq(metric("own_half_frac"), half_frac, 1e-9);
    cr_expect_float_eq(metric("latency_mean_half_frac"), half_frac, 1e-9);
    cr_expect(isnan(metric("unknown_half_frac")), "an unknown value has no interval");
    cr_expect_str_eq(result.bottleneck_stage, "busy");
}

/* The windows before the first one count neither as quiet nor in the raw metrics. */
Test(watched_report, windows_before_the_first_do_not_count)
{
    mops[0] = mops[1] = 1000;
    report_from(2);
    cr_expect_lt(result.throughput_mops, 11);
    cr_expect_lt(metric("raw_throughput_mops"), 11);
    cr_expect_float_eq(metric("quiet_frac"), 1 - 2.0 / WINDOWS, 1e-9);
}

Test(watched_report, a_slow_core_is_noted)
{
    struct kvc_watched_noise noise = {.others_frac = 0.25,
                                      .cores = {.count = 2, .speed_frac = {1, kvc_cores_shared_frac}}};
    report_from(0);
    kvc_watched_report_noise(&watched, &noise, &result);
    cr_expect_eq(metric("others_frac"), 0.25);
    cr_expect_eq(metric("slowest_core_frac"), kvc_cores_shared_frac);
    cr_expect_eq(metric("stalled_frac"), 0);
    cr_expect_eq(result.note_count, 0);
    noise.cores.speed_frac[1] = kvc_cores_shared_frac / 2;
    kvc_watched_report_noise(&watched, &noise, &result);
    cr_expect_eq(result.note_count, 1);
}
