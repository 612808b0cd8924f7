#include "models/memcachedgpu/real/report.h"

#include <math.h>
#include <stdlib.h>

#include "sim/metrics/bottleneck.h"

/* A smaller share of quiet windows is worth a note. */
static const double quiet_least_frac = 0.1;

/* What the node did in some of its windows. */
struct sums {
    uint32_t windows;
    struct kvc_memcachedgpu_real_time pre, post;
    uint64_t answered, hits, kernels;
    double in_flight_ns, kernel_ns, mops;
    struct kvc_histogram *latency;
};

static void add_time(struct kvc_memcachedgpu_real_time *sum, const struct kvc_memcachedgpu_real_time *now,
                     const struct kvc_memcachedgpu_real_time *before)
{
    sum->busy_ns += now->busy_ns - before->busy_ns;
    sum->batches += now->batches - before->batches;
}

static void add_pre(const struct kvc_memcachedgpu_real_begun *begun, const bool *wanted, uint32_t count,
                    struct sums *sums)
{
    static const struct kvc_memcachedgpu_real_begun none = {.pre = {0, 0}};
    for (uint32_t i = 0; i < count; i++) {
        if (wanted[i]) {
            add_time(&sums->pre, &begun[i].pre, i > 0 ? &begun[i - 1].pre : &none.pre);
        }
    }
}

/* Counts begin with the warm-up: the first window is left out, so that the difference is that of a window. */
static void add_post(const struct kvc_memcachedgpu_real_ended *ended, const bool *wanted, uint32_t count,
                     struct sums *sums)
{
    uint64_t answered = 0;
    double ns = 0;
    for (uint32_t i = 1; i < count; i++) {
        const struct kvc_memcachedgpu_real_ended *now = &ended[i], *before = &ended[i - 1];
        if (!wanted[i]) {
            continue;
        }
        add_time(&sums->post, &now->post, &before->post);
        answered += now->answered - before->answered;
        sums->hits += now->hits - before->hits;
        sums->kernels += now->kernels - before->kernels;
        sums->in_flight_ns += now->in_flight_ns - before->in_flight_ns;
        sums->kernel_ns += now->kernel_ns - before->kernel_ns;
        ns += now->at_ns - before->at_ns;
        kvc_histogram_add_pack(sums->latency, &now->latency);
    }
    sums->answered += answered;
    sums->mops += ns > 0 ? (double)answered / ns * 1e3 : 0;
}

/* Adds up the wanted windows. Their latencies replace those in `latency`. */
static struct sums add_up(const struct kvc_memcachedgpu_real_windows *windows, bool *wanted,
                          struct kvc_histogram *latency)
{
    struct sums sums = {.latency = latency};
    wanted[0] = false;
    sums.windows = kvc_quiet_count(wanted, windows->watched.count);
    kvc_histogram_reset(latency);
    add_pre(windows->begun, wanted, windows->watched.count, &sums);
    for (uint32_t p = 0; p < windows->posts; p++) {
        add_post(windows->ended[p], wanted, windows->watched.count, &sums);
    }
    return sums;
}

/* ---- metrics with intervals ---- */

enum { MOPS, MEAN_US, P99_US, KERNEL_JOB_NS, INTERVALS };
static const char *const interval_names[INTERVALS] = {"throughput_half_frac", "latency_mean_half_frac",
                                                      "latency_p99_half_frac", "search_job_half_frac"};

static double kernel_us(const struct sums *sums)
{
    return sums->kernels > 0 ? sums->kernel_ns / (double)sums->kernels / 1e3 : NAN;
}

static void values_of(const struct kvc_memcachedgpu_real_node *node, const struct sums *sums,
                      double value[INTERVALS])
{
    value[MOPS] = sums->mops;
    value[MEAN_US] = kvc_histogram_mean_ns(sums->latency) / 1e3;
    value[P99_US] = kvc_histogram_percentile_ns(sums->latency, 0.99) / 1e3;
    value[KERNEL_JOB_NS] = kernel_us(sums) * 1e3 / node->params.batch;
}

/* ---- stages ---- */

enum { PRE, POST, STAGES };

/* Utilizations of the two kinds of threads. That of the GPU is not known: kernels of several streams overlap.
 */
static void find_utilizations(const struct kvc_memcachedgpu_real_node *node, const struct sums *sums,
                              double utilization[STAGES])
{
    double measured_ns = sums->windows * kvc_quiet_window_ns;
    utilization[PRE] = sums->pre.busy_ns / measured_ns;
    utilization[POST] = sums->post.busy_ns / node->params.post_threads / measured_ns;
}

static void add_stage(struct kvc_result *result, const char *name,
                      const struct kvc_memcachedgpu_real_time *time, uint32_t batch, double utilization_frac)
{
    struct kvc_stage_result *stage = kvc_result_add_stage(result, name, "cpu", fmin(utilization_frac, 1));
    stage->busy_s = time->busy_ns / 1e9;
    stage->served = time->batches * batch;
}

static void report_stages(const struct kvc_memcachedgpu_real_node *node, const struct sums *sums,
                          struct kvc_result *result)
{
    double utilization[STAGES];
    find_utilizations(node, sums, utilization);
    add_stage(result, "launch", &sums->pre, node->params.batch, utilization[PRE]);
    add_stage(result, "answer", &sums->post, node->params.batch, utilization[POST]);
    kvc_bottleneck_find(result);
}

/* Adds the intervals of the metrics over the quiet windows by the means of batches. */
static void report_intervals(const struct kvc_memcachedgpu_real_node *node,
                             const struct kvc_memcachedgpu_real_windows *windows, const bool *quiet,
                             const struct sums *sums, struct kvc_result *result)
{
    uint32_t count = sums->windows, batches = count < KVC_QUIET_BATCHES ? count : KVC_QUIET_BATCHES;
    double batch_value[INTERVALS][KVC_QUIET_BATCHES], one[INTERVALS], all[INTERVALS];
    double utilization[STAGES * KVC_QUIET_BATCHES], busy[STAGES];
    struct kvc_histogram *latency = malloc(sizeof(*latency));
    bool *wanted = malloc((windows->watched.count + 1) * sizeof(*wanted));
    if (latency == NULL || wanted == NULL) {
        kvc_out_of_memory("the batches of %u windows", windows->watched.count);
    }
    values_of(node, sums, all);
    for (uint32_t batch = 0; batch < batches; batch++) {
        for (uint32_t i = 0, order = 0; i < windows->watched.count; i++) {
            wanted[i] = quiet[i] && kvc_quiet_batch(order, count) == batch;
            order += quiet[i];
        }
        struct sums part = add_up(windows, wanted, latency);
        values_of(node, &part, one);
        find_utilizations(node, &part, busy);
        for (int i = 0; i < INTERVALS; i++) {
            batch_value[i][batch] = one[i];
        }
        for (uint32_t i = 0; i < STAGES; i++) {
            utilization[i * batches + batch] = busy[i];
        }
    }
    kvc_bottleneck_find_in_parts(result, utilization, batches);
    for (int i = 0; i < INTERVALS; i++) {
        double half_frac = kvc_quiet_half_width(batch_value[i], batches) / all[i];
        if (isfinite(half_frac)) {
            kvc_metrics_set(&result->model, interval_names[i], half_frac);
        }
    }
    free(latency);
    free(wanted);
}

static void report_windows(const struct kvc_memcachedgpu_real_windows *windows, uint32_t quiet,
                           struct kvc_result *result)
{
    double quiet_frac = (double)quiet / windows->watched.count;
    kvc_metrics_set(&result->model, "windows", windows->watched.count);
    kvc_metrics_set(&result->model, "quiet_frac", quiet_frac);
    if (quiet == 0) {
        kvc_result_note(result,
                        "none of the %u windows of 10 ms was quiet: the metrics are those of the disturbed "
                        "machine and have no intervals, measure again",
                        windows->watched.count);
    } else if (quiet_frac < quiet_least_frac) {
        kvc_result_note(result, "only %u of the %u windows of 10 ms were quiet: the intervals are wide",
                        quiet, windows->watched.count);
    }
}

static void want_all(const struct kvc_memcachedgpu_real_windows *windows, bool *wanted)
{
    for (uint32_t i = 0; i < windows->watched.count; i++) {
        wanted[i] = true;
    }
}

/* Adds the metrics of all windows, as they would be without a choice. */
static void report_raw(const struct kvc_memcachedgpu_real_windows *windows, bool *wanted,
                       struct kvc_result *result)
{
    want_all(windows, wanted);
    struct sums raw = add_up(windows, wanted, &result->latency);
    kvc_metrics_set(&result->model, "raw_throughput_mops", raw.mops);
    if (raw.latency->count > 0) {
        kvc_metrics_set(&result->model, "raw_latency_mean_us", kvc_histogram_mean_ns(raw.latency) / 1e3);
        kvc_metrics_set(&result->model, "raw_latency_p99_us",
                        kvc_histogram_percentile_ns(raw.latency, 0.99) / 1e3);
    }
}

/* Adds the metrics of the windows that count. */
static void report_sums(const struct kvc_memcachedgpu_real_node *node, const struct sums *sums,
                        struct kvc_result *result)
{
    double measured_ns = sums->windows * kvc_quiet_window_ns, batch = node->params.batch;
    result->offered = sums->pre.batches * node->params.batch;
    result->completed = sums->answered;
    result->gets = sums->answered;
    result->hits = sums->hits;
    result->misses = sums->answered - sums->hits;
    result->has_histogram = true;
    result->throughput_mops = sums->mops;
    result->simulated_s = measured_ns / 1e9;
    result->warmup_s = node->from_ns / 1e9;
    report_stages(node, sums, result);
    kvc_metrics_set(&result->model, "batch_packets", batch);
    if (sums->kernels > 0) {
        kvc_metrics_set(&result->model, "kernel_us", kernel_us(sums));
        kvc_metrics_set(&result->model, "t_search_us", kernel_us(sums));
        kvc_metrics_set(&result->model, "jobs_per_search", batch);
        kvc_metrics_set(&result->model, "search_ns_per_job", kernel_us(sums) * 1e3 / batch);
    }
    kvc_metrics_set(&result->model, "streams_mean", sums->in_flight_ns / measured_ns);
    if (!isnan(node->background_ended_ns)) {
        kvc_metrics_set(&result->model, "background_ms",
                        (node->background_ended_ns - node->background_begun_ns) / 1e6);
    }
    for (uint32_t p = 0; p < node->params.post_threads; p++) {
        result->requests_simulated += node->post[p].answerer.answered;
    }
}

void kvc_memcachedgpu_real_report(const struct kvc_memcachedgpu_real_node *node,
                                  struct kvc_memcachedgpu_real_windows *windows, struct kvc_result *result)
{
    bool *wanted = malloc((windows->watched.room + 1) * sizeof(*wanted));
    if (wanted == NULL) {
        kvc_out_of_memory("%u windows", windows->watched.room);
    }
    kvc_watched_stop(&windows->watched);
    report_raw(windows, wanted, result);
    kvc_memcachedgpu_real_windows_judge(windows, node->from_ns, wanted);
    wanted[0] = false;
    uint32_t quiet = kvc_quiet_count(wanted, windows->watched.count);
    if (quiet == 0) {
        want_all(windows, wanted);
    }
    struct sums sums = add_up(windows, wanted, &result->latency);
    report_sums(node, &sums, result);
    report_windows(windows, quiet, result);
    if (quiet > 0) {
        report_intervals(node, windows, wanted, &sums, result);
    }
    kvc_metrics_set(&result->kernel, "load_factor_frac",
                    (double)kvc_index_used(node->index) / (double)kvc_index_capacity(node->index));
    free(wanted);
}

void kvc_memcachedgpu_real_report_noise(const struct kvc_memcachedgpu_real_noise *noise,
                                        const struct kvc_memcachedgpu_real_windows *windows,
                                        struct kvc_result *result)
{
    double slowest_frac = kvc_cores_slowest_frac(&noise->cores);
    kvc_metrics_set(&result->model, "others_frac", noise->others_frac);
    kvc_metrics_set(&result->model, "stalled_frac", kvc_watched_stalled_frac(&windows->watched));
    kvc_metrics_set(&result->model, "slowest_core_frac", slowest_frac);
    kvc_metrics_set(&result->model, "core_speed_steps_per_ns", kvc_watched_core_speed(&windows->watched));
    if (slowest_frac < kvc_cores_shared_frac) {
        kvc_result_note(
            result,
            "the slowest core ran at %.0f %% of the fastest while all worked: it shares its units "
            "with another core or with a neighbour of this machine",
            100 * slowest_frac);
    }
}
