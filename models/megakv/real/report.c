#include "models/megakv/real/report.h"

#include <math.h>
#include <stdlib.h>

#include "sim/metrics/bottleneck.h"

/* A smaller share of quiet windows is worth a note. */
static const double quiet_least_frac = 0.1;

static void add_stage(struct kvc_result *result, const char *name, const char *device,
                      const struct kvc_megakv_real_task_time *time, double utilization_frac)
{
    struct kvc_stage_result *stage = kvc_result_add_stage(result, name, device, fmin(utilization_frac, 1));
    stage->busy_s = time->busy_ns / 1e9;
    stage->served = time->served;
}

/* What the node did in some of its windows. */
struct sums {
    uint32_t windows;
    struct kvc_megakv_real_task_time receive, send, search, insert;
    uint64_t search_launches, insert_launches, late_launches;
    uint64_t completed, hits, misses, sets, deletes;
    double index_ns, mops; /* Time of the scheduler in these windows, and the throughput. */
    struct kvc_histogram *latency;
};

/* Adds counts[i] - counts[i - 1] of a task's time. */
static void add_time(struct kvc_megakv_real_task_time *sum, const struct kvc_megakv_real_task_time *now,
                     const struct kvc_megakv_real_task_time *before)
{
    sum->busy_ns += now->busy_ns - before->busy_ns;
    sum->served += now->served - before->served;
}

static void add_receiver(const struct kvc_megakv_real_received *received, const bool *wanted, uint32_t count,
                         struct sums *sums)
{
    static const struct kvc_megakv_real_received none = {.caught_up = false};
    for (uint32_t i = 0; i < count; i++) {
        if (wanted[i]) {
            add_time(&sums->receive, &received[i].receive, i > 0 ? &received[i - 1].receive : &none.receive);
        }
    }
}

static void add_sender(const struct kvc_megakv_real_sent *sent, const bool *wanted, uint32_t count,
                       double from_ns, struct sums *sums)
{
    const struct kvc_megakv_real_sent none = {.at_ns = from_ns};
    uint64_t completed = 0;
    double ns = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct kvc_megakv_real_sent *now = &sent[i], *before = i > 0 ? &sent[i - 1] : &none;
        if (!wanted[i]) {
            continue;
        }
        add_time(&sums->send, &now->send, &before->send);
        completed += now->completed - before->completed;
        sums->hits += now->hits - before->hits;
        sums->misses += now->misses - before->misses;
        sums->sets += now->sets - before->sets;
        sums->deletes += now->deletes - before->deletes;
        ns += now->at_ns - before->at_ns;
        kvc_histogram_add_pack(sums->latency, &now->latency);
    }
    sums->completed += completed;
    sums->mops += ns > 0 ? (double)completed / ns * 1e3 : 0;
}

static void add_scheduler(const struct kvc_megakv_real_launched *launched, const bool *wanted, uint32_t count,
                          double from_ns, struct sums *sums)
{
    const struct kvc_megakv_real_launched none = {.at_ns = from_ns};
    for (uint32_t i = 0; i < count; i++) {
        const struct kvc_megakv_real_launched *now = &launched[i], *before = i > 0 ? &launched[i - 1] : &none;
        if (!wanted[i]) {
            continue;
        }
        add_time(&sums->search, &now->search, &before->search);
        add_time(&sums->insert, &now->insert, &before->insert);
        sums->search_launches += now->search_launches - before->search_launches;
        sums->insert_launches += now->insert_launches - before->insert_launches;
        sums->late_launches += now->late_launches - before->late_launches;
        sums->index_ns += now->at_ns - before->at_ns;
    }
}

/* Adds up the wanted windows. Their latencies replace those in `latency`. */
static struct sums add_up(const struct kvc_megakv_real_node *node,
                          const struct kvc_megakv_real_windows *windows, const bool *wanted,
                          struct kvc_histogram *latency)
{
    struct sums sums = {.windows = kvc_quiet_count(wanted, windows->watched.count), .latency = latency};
    kvc_histogram_reset(latency);
    for (uint32_t i = 0; i < windows->pipelines; i++) {
        add_receiver(windows->received[i], wanted, windows->watched.count, &sums);
        add_sender(windows->sent[i], wanted, windows->watched.count, node->from_ns, &sums);
    }
    add_scheduler(windows->launched, wanted, windows->watched.count, node->from_ns, &sums);
    return sums;
}

static double launch_us(const struct kvc_megakv_real_task_time *time, uint64_t launches)
{
    return launches > 0 ? time->busy_ns / (double)launches / 1e3 : NAN;
}

/* Returns the time of a job of the launches, or NaN if there was none. */
static double job_ns(const struct kvc_megakv_real_task_time *time)
{
    return time->served > 0 ? time->busy_ns / (double)time->served : NAN;
}

/* ---- metrics with intervals ---- */

/* The metrics that have intervals. */
enum { MOPS, MEAN_US, P99_US, SEARCH_JOB_NS, INSERT_JOB_NS, INTERVALS };
static const char *const interval_names[INTERVALS] = {"throughput_half_frac", "latency_mean_half_frac",
                                                      "latency_p99_half_frac", "search_job_half_frac",
                                                      "insert_job_half_frac"};

static void values_of(const struct sums *sums, double value[INTERVALS])
{
    value[MOPS] = sums->mops;
    value[MEAN_US] = kvc_histogram_mean_ns(sums->latency) / 1e3;
    value[P99_US] = kvc_histogram_percentile_ns(sums->latency, 0.99) / 1e3;
    value[SEARCH_JOB_NS] = job_ns(&sums->search);
    value[INSERT_JOB_NS] = job_ns(&sums->insert);
}

/* ---- stages ---- */

enum { STAGES = 3 };

/* Sets the utilizations of receive, index and send in these windows. Receivers and scheduler that share a
 * core are as busy as the core. */
static void find_utilizations(const struct kvc_megakv_real_node *node, const struct sums *sums,
                              double utilization[STAGES])
{
    double measured_ns = sums->windows * kvc_quiet_window_ns;
    utilization[0] = sums->receive.busy_ns / node->receive_cores / measured_ns;
    utilization[1] = (sums->search.busy_ns + sums->insert.busy_ns) / measured_ns;
    utilization[2] = sums->send.busy_ns / node->send_cores / measured_ns;
    if (node->shared) {
        utilization[0] = utilization[1] = utilization[0] + utilization[1];
    }
}

static void report_stages(const struct kvc_megakv_real_node *node, const struct sums *sums,
                          struct kvc_result *result)
{
    static const struct kvc_megakv_real_task_time none = {.busy_ns = 0};
    struct kvc_megakv_real_task_time index = sums->search;
    double utilization[STAGES];
    find_utilizations(node, sums, utilization);
    add_time(&index, &sums->insert, &none);
    add_stage(result, "receive", "cpu", &sums->receive, utilization[0]);
    add_stage(result, "index", node->on_gpu ? "gpu" : "cpu", &index, utilization[1]);
    add_stage(result, "send", "cpu", &sums->send, utilization[2]);
    kvc_bottleneck_find(result);
}

/* Adds the intervals of the metrics over the quiet windows by the means of batches, which also tell how well
 * the bottleneck is known. */
static void report_intervals(const struct kvc_megakv_real_node *node,
                             const struct kvc_megakv_real_windows *windows, const bool *quiet,
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
    for (uint32_t batch = 0; batch < batches; batch++) {
        for (uint32_t i = 0, order = 0; i < windows->watched.count; i++) {
            wanted[i] = quiet[i] && kvc_quiet_batch(order, count) == batch;
            order += quiet[i];
        }
        struct sums part = add_up(node, windows, wanted, latency);
        values_of(&part, one);
        for (int i = 0; i < INTERVALS; i++) {
            batch_value[i][batch] = one[i];
        }
        find_utilizations(node, &part, busy);
        for (uint32_t i = 0; i < STAGES; i++) {
            utilization[i * batches + batch] = busy[i];
        }
    }
    kvc_bottleneck_find_in_parts(result, utilization, batches);
    values_of(sums, all);
    for (int i = 0; i < INTERVALS; i++) {
        double half_frac = kvc_quiet_half_width(batch_value[i], batches) / all[i];
        if (isfinite(half_frac)) {
            kvc_metrics_set(&result->model, interval_names[i], half_frac);
        }
    }
    free(latency);
    free(wanted);
}

/* Adds what the data structures of the pipelines counted in the whole run. */
static void report_kernel(const struct kvc_megakv_real_node *node, struct kvc_result *result)
{
    const struct kvc_megakv_shard *shard = node->shard;
    struct kvc_megakv_slab_stats sum = {0}, *slab = &sum;
    uint64_t rejected = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        const struct kvc_megakv_real_pipeline *pipeline = node->pipeline[i];
        slab->reads += pipeline->answerer.stats.reads;
        slab->read_lines += pipeline->answerer.stats.read_lines;
        slab->marked += pipeline->answerer.stats.marked;
        slab->evicted += pipeline->receive_stats.evicted;
        rejected += pipeline->rejected;
        result->requests_simulated += pipeline->answerer.answered;
    }
    const struct kvc_index_stats *index = &shard->index_stats;
    double slots = (double)kvc_index_capacity(shard->index);
    kvc_metrics_set(&result->kernel, "load_factor_frac", (double)kvc_index_used(shard->index) / slots);
    if (index->searches > 0) {
        kvc_metrics_set(&result->kernel, "lines_per_search",
                        (double)index->search_lines / (double)index->searches);
    }
    if (index->inserts > 0) {
        kvc_metrics_set(&result->kernel, "lines_per_insert",
                        (double)index->insert_lines / (double)index->inserts);
    }
    if (slab->reads > 0) {
        kvc_metrics_set(&result->kernel, "lines_per_read", (double)slab->read_lines / (double)slab->reads);
        kvc_metrics_set(&result->kernel, "marks_per_read", (double)slab->marked / (double)slab->reads);
    }
    kvc_metrics_set(&result->kernel, "index_dropped", (double)index->dropped);
    kvc_metrics_set(&result->kernel, "evictions", (double)slab->evicted);
    kvc_metrics_set(&result->kernel, "rejected", (double)rejected);
}

static void report_launches(struct kvc_result *result, const char *time_name, const char *jobs_name,
                            const char *job_name, const struct kvc_megakv_real_task_time *time,
                            uint64_t launches)
{
    if (launches == 0) {
        return;
    }
    kvc_metrics_set(&result->model, time_name, launch_us(time, launches));
    kvc_metrics_set(&result->model, jobs_name, (double)time->served / (double)launches);
    kvc_metrics_set(&result->model, job_name, job_ns(time));
}

static void report_windows(const struct kvc_megakv_real_windows *windows, uint32_t quiet,
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

/* Adds the metrics of all windows, as they would be without a choice. */
static void report_raw(const struct kvc_megakv_real_node *node, const struct kvc_megakv_real_windows *windows,
                       bool *wanted, struct kvc_result *result)
{
    for (uint32_t i = 0; i < windows->watched.count; i++) {
        wanted[i] = true;
    }
    struct sums raw = add_up(node, windows, wanted, &result->latency);
    kvc_metrics_set(&result->model, "raw_throughput_mops", raw.mops);
    if (raw.latency->count > 0) {
        kvc_metrics_set(&result->model, "raw_latency_mean_us", kvc_histogram_mean_ns(raw.latency) / 1e3);
        kvc_metrics_set(&result->model, "raw_latency_p99_us",
                        kvc_histogram_percentile_ns(raw.latency, 0.99) / 1e3);
    }
}

/* Adds the metrics of the windows that count. */
static void report_sums(const struct kvc_megakv_real_node *node, const struct sums *sums,
                        struct kvc_result *result)
{
    result->offered = sums->receive.served;
    result->completed = sums->completed;
    result->hits = sums->hits;
    result->misses = sums->misses;
    result->gets = result->hits + result->misses;
    result->sets = sums->sets;
    result->deletes = sums->deletes;
    result->has_histogram = true;
    result->throughput_mops = sums->mops;
    result->simulated_s = sums->windows * kvc_quiet_window_ns / 1e9;
    result->warmup_s = node->from_ns / 1e9;
    report_stages(node, sums, result);
    report_launches(result, "t_search_us", "jobs_per_search", "search_ns_per_job", &sums->search,
                    sums->search_launches);
    report_launches(result, "t_insert_us", "jobs_per_insert", "insert_ns_per_job", &sums->insert,
                    sums->insert_launches);
    if (sums->search_launches > 0) {
        double launches = (double)sums->search_launches;
        kvc_metrics_set(&result->model, "cycle_effective_us", sums->index_ns / launches / 1e3);
        kvc_metrics_set(&result->model, "launches_late_frac", (double)sums->late_launches / launches);
    }
}

void kvc_megakv_real_report(const struct kvc_megakv_real_node *node, struct kvc_megakv_real_windows *windows,
                            struct kvc_result *result)
{
    bool *wanted = malloc((windows->watched.room + 1) * sizeof(*wanted));
    if (wanted == NULL) {
        kvc_out_of_memory("%u windows", windows->watched.room);
    }
    kvc_watched_stop(&windows->watched);
    report_raw(node, windows, wanted, result);
    kvc_megakv_real_windows_judge(windows, node, wanted);
    uint32_t quiet = kvc_quiet_count(wanted, windows->watched.count);
    for (uint32_t i = 0; quiet == 0 && i < windows->watched.count; i++) {
        wanted[i] = true;
    }
    struct sums sums = add_up(node, windows, wanted, &result->latency);
    report_sums(node, &sums, result);
    report_kernel(node, result);
    report_windows(windows, quiet, result);
    if (quiet > 0) {
        report_intervals(node, windows, wanted, &sums, result);
    }
    free(wanted);
}

void kvc_megakv_real_report_noise(const struct kvc_megakv_real_noise *noise,
                                  const struct kvc_megakv_real_windows *windows, struct kvc_result *result)
{
    double slowest_frac = kvc_cores_slowest_frac(&noise->cores);
    kvc_metrics_set(&result->model, "others_frac", noise->others_frac);
    kvc_metrics_set(&result->model, "stalled_frac", kvc_watched_stalled_frac(&windows->watched));
    kvc_metrics_set(&result->model, "slowest_core_frac", slowest_frac);
    kvc_metrics_set(&result->model, "core_speed_steps_per_ns", kvc_watched_core_speed(&windows->watched));
    if (slowest_frac < kvc_cores_shared_frac) {
        kvc_result_note(
            result,
            "the slowest core ran at %.0f %% of the fastest while all worked: it shares its units with another "
            "core or with a neighbour of this machine, and pipelines wait for it",
            100 * slowest_frac);
    }
}
