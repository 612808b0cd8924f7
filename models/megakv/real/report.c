#include "models/megakv/real/report.h"

#include <math.h>

#include "sim/metrics/bottleneck.h"

/* A measured run. */
struct run {
    const struct kvc_megakv_real_node *node;
    const struct kvc_megakv_real_windows *windows;
};

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
static struct sums sum_up(const struct run *run, const bool *wanted, struct kvc_histogram *latency)
{
    const struct kvc_megakv_real_windows *windows = run->windows;
    uint32_t count = windows->watched.count;
    double from_ns = run->node->from_ns;
    struct sums sums = {.windows = kvc_quiet_count(wanted, count), .latency = latency};
    kvc_histogram_reset(latency);
    for (uint32_t i = 0; i < windows->pipelines; i++) {
        add_receiver(windows->received[i], wanted, count, &sums);
        add_sender(windows->sent[i], wanted, count, from_ns, &sums);
    }
    add_scheduler(windows->launched, wanted, count, from_ns, &sums);
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

/* Adds what the data structures of the pipelines counted in the whole run. */
static void report_kernel(const struct kvc_megakv_real_node *node, struct kvc_result *result)
{
    const struct kvc_cuckoo_shard *shard = node->shard;
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

static struct kvc_quiet_flow flow_of(const void *data, uint32_t window)
{
    const struct run *run = data;
    const struct kvc_megakv_real_windows *windows = run->windows;
    struct kvc_quiet_flow flow = {.caught_up = true, .oldest_sent_ns = INFINITY};
    for (uint32_t p = 0; p < windows->pipelines; p++) {
        flow.caught_up = flow.caught_up && windows->received[p][window].caught_up;
        flow.oldest_sent_ns = fmin(flow.oldest_sent_ns, windows->sent[p][window].oldest_sent_ns);
    }
    return flow;
}

/* The metrics of the store that have intervals. */
enum { SEARCH_JOB_NS, INSERT_JOB_NS, VALUES };
static const char *const half_widths[VALUES] = {"search_job_half_frac", "insert_job_half_frac"};

static void add_up(const void *data, const bool *wanted, struct kvc_histogram *latency,
                   struct kvc_watched_part *part)
{
    const struct run *run = data;
    struct sums sums = sum_up(run, wanted, latency);
    part->mops = sums.mops;
    part->value[SEARCH_JOB_NS] = job_ns(&sums.search);
    part->value[INSERT_JOB_NS] = job_ns(&sums.insert);
    find_utilizations(run->node, &sums, part->utilization_frac);
}

static void report(const void *data, const bool *wanted, struct kvc_result *result)
{
    const struct run *run = data;
    struct sums sums = sum_up(run, wanted, &result->latency);
    report_sums(run->node, &sums, result);
    report_kernel(run->node, result);
}

void kvc_megakv_real_report(const struct kvc_megakv_real_node *node, struct kvc_megakv_real_windows *windows,
                            struct kvc_result *result)
{
    const struct run run = {node, windows};
    const struct kvc_watched_store store = {.data = &run,
                                            .flow_of = flow_of,
                                            .from_ns = node->from_ns,
                                            .open_loop = !node->saturating,
                                            .add_up = add_up,
                                            .report = report,
                                            .values = VALUES,
                                            .half_widths = half_widths};
    kvc_watched_report(&windows->watched, &store, result);
}
