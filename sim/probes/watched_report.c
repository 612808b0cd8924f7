#include "sim/probes/watched_report.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/metrics/bottleneck.h"

/* A smaller share of quiet windows is worth a note. */
static const double quiet_least_frac = 0.1;

/* ---- all windows ---- */

static void want_all(const struct kvc_watched *watched, const struct kvc_watched_store *store, bool *wanted)
{
    for (uint32_t i = 0; i < watched->count; i++) {
        wanted[i] = i >= store->first;
    }
}

/* Adds the metrics of all windows, as they would be without a choice. */
static void report_raw(const struct kvc_watched *watched, const struct kvc_watched_store *store, bool *wanted,
                       struct kvc_result *result)
{
    const struct kvc_histogram *latency = &result->latency;
    struct kvc_watched_part raw;
    want_all(watched, store, wanted);
    store->add_up(store->data, wanted, &result->latency, &raw);
    kvc_metrics_set(&result->model, "raw_throughput_mops", raw.mops);
    if (latency->count > 0) {
        kvc_metrics_set(&result->model, "raw_latency_mean_us", kvc_histogram_mean_ns(latency) / 1e3);
        kvc_metrics_set(&result->model, "raw_latency_p99_us",
                        kvc_histogram_percentile_ns(latency, 0.99) / 1e3);
    }
}

/* ---- windows that count ---- */

/* Finds the windows that count: the quiet ones, or all if none was quiet. Returns the number of quiet ones.
 */
static uint32_t choose(const struct kvc_watched *watched, const struct kvc_watched_store *store, bool *wanted)
{
    kvc_watched_judge(watched, store->flow_of, store->data, store->from_ns, store->open_loop, wanted);
    for (uint32_t i = 0; i < store->first && i < watched->count; i++) {
        wanted[i] = false;
    }
    uint32_t quiet = kvc_quiet_count(wanted, watched->count);
    if (quiet == 0) {
        want_all(watched, store, wanted);
    }
    return quiet;
}

static void report_windows(uint32_t quiet, uint32_t windows, struct kvc_result *result)
{
    double quiet_frac = (double)quiet / windows;
    kvc_metrics_set(&result->model, "windows", windows);
    kvc_metrics_set(&result->model, "quiet_frac", quiet_frac);
    if (quiet == 0) {
        kvc_result_note(result,
                        "none of the %u windows of 10 ms was quiet: the metrics are those of the disturbed "
                        "machine and have no intervals, measure again",
                        windows);
    } else if (quiet_frac < quiet_least_frac) {
        kvc_result_note(result, "only %u of the %u windows of 10 ms were quiet: the intervals are wide",
                        quiet, windows);
    }
}

/* ---- intervals ---- */

/* The metrics with intervals that all stores have; those of the store follow. */
enum { MOPS, MEAN_US, P99_US, COMMON, VALUES_MAX = COMMON + KVC_WATCHED_VALUES_MAX };
static const char *const common_names[COMMON] = {"throughput_half_frac", "latency_mean_half_frac",
                                                 "latency_p99_half_frac"};

/* Sets the metrics and the utilizations of some windows. */
static void find_values(const struct kvc_watched_store *store, const bool *wanted,
                        struct kvc_histogram *latency, double value[VALUES_MAX],
                        struct kvc_watched_part *part)
{
    store->add_up(store->data, wanted, latency, part);
    value[MOPS] = part->mops;
    value[MEAN_US] = kvc_histogram_mean_ns(latency) / 1e3;
    value[P99_US] = kvc_histogram_percentile_ns(latency, 0.99) / 1e3;
    for (uint32_t i = 0; i < store->values; i++) {
        value[COMMON + i] = part->value[i];
    }
}

/* Adds the half widths of the intervals. batch_value[i] are the values of metric i by batch, and all[i] is
 * that of all quiet windows. */
static void report_half_widths(const struct kvc_watched_store *store,
                               double batch_value[VALUES_MAX][KVC_QUIET_BATCHES], uint32_t batches,
                               const double all[VALUES_MAX], struct kvc_result *result)
{
    for (uint32_t i = 0; i < COMMON + store->values; i++) {
        double half_frac = kvc_quiet_half_width(batch_value[i], batches) / all[i];
        if (isfinite(half_frac)) {
            kvc_metrics_set(&result->model, i < COMMON ? common_names[i] : store->half_widths[i - COMMON],
                            half_frac);
        }
    }
}

/* Adds the intervals of the metrics over the quiet windows by the means of batches, which also tell how well
 * the bottleneck is known. */
static void report_intervals(const struct kvc_watched *watched, const struct kvc_watched_store *store,
                             const bool *quiet, struct kvc_result *result)
{
    uint32_t count = kvc_quiet_count(quiet, watched->count), stages = result->stage_count;
    uint32_t batches = count < KVC_QUIET_BATCHES ? count : KVC_QUIET_BATCHES;
    double batch_value[VALUES_MAX][KVC_QUIET_BATCHES], value[VALUES_MAX];
    double utilization[KVC_STAGES_MAX * KVC_QUIET_BATCHES];
    struct kvc_watched_part part;
    struct kvc_histogram *latency = kvc_array_of(1, sizeof(*latency));
    bool *wanted = kvc_array_of(watched->count + 1, sizeof(*wanted));
    for (uint32_t batch = 0; batch < batches; batch++) {
        for (uint32_t i = 0, order = 0; i < watched->count; i++) {
            wanted[i] = quiet[i] && kvc_quiet_batch(order, count) == batch;
            order += quiet[i];
        }
        find_values(store, wanted, latency, value, &part);
        for (uint32_t i = 0; i < COMMON + store->values; i++) {
            batch_value[i][batch] = value[i];
        }
        for (uint32_t i = 0; i < stages; i++) {
            utilization[i * batches + batch] = part.utilization_frac[i];
        }
    }
    kvc_bottleneck_find_in_parts(result, utilization, batches);
    find_values(store, quiet, latency, value, &part);
    report_half_widths(store, batch_value, batches, value, result);
    free(latency);
    free(wanted);
}

void kvc_watched_report(struct kvc_watched *watched, const struct kvc_watched_store *store,
                        struct kvc_result *result)
{
    kvc_watched_stop(watched);
    bool *wanted = kvc_array_of(watched->count + 1, sizeof(*wanted));
    report_raw(watched, store, wanted, result);
    uint32_t quiet = choose(watched, store, wanted);
    store->report(store->data, wanted, result);
    report_windows(quiet, watched->count, result);
    if (quiet > 0) {
        report_intervals(watched, store, wanted, result);
    }
    free(wanted);
}

/* ---- noise ---- */

void kvc_watched_report_noise(const struct kvc_watched *watched, const struct kvc_watched_noise *noise,
                              struct kvc_result *result)
{
    double slowest_frac = kvc_cores_slowest_frac(&noise->cores);
    kvc_metrics_set(&result->model, "others_frac", noise->others_frac);
    kvc_metrics_set(&result->model, "stalled_frac", kvc_watched_stalled_frac(watched));
    kvc_metrics_set(&result->model, "slowest_core_frac", slowest_frac);
    kvc_metrics_set(&result->model, "core_speed_steps_per_ns", kvc_watched_core_speed(watched));
    if (slowest_frac < kvc_cores_shared_frac) {
        kvc_result_note(
            result,
            "the slowest core ran at %.0f %% of the fastest while all worked: it shares its units with another "
            "core or with a neighbour of this machine, and the store's other threads may wait for it",
            100 * slowest_frac);
    }
}
