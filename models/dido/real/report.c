#include "models/dido/real/report.h"

#include <math.h>
#include <stdio.h>

#include "sim/metrics/bottleneck.h"
#include "sim/probes/watched.h"

/* Counts begin with the warm-up: the first window is left out, so that the difference of two copies is that
 * of a window. */
enum { FIRST = 1 };

/* A measured run. */
struct run {
    const struct kvc_dido_real_node *node;
    const struct kvc_dido_real_windows *windows;
    double from_ns;
    double tick_ns; /* Of the clock of the tasks. */
};

/* What the node did in some of its windows. */
struct sums {
    uint32_t windows;
    double busy_ns[KVC_DIDO_STAGES_MAX];
    uint64_t served[KVC_DIDO_STAGES_MAX];
    uint64_t task_ticks[KVC_DIDO_TASKS];
    uint64_t hits, misses, sets, deletes;
    uint64_t batches, batch_queries;
    double period_ns, mops;
    struct kvc_histogram *latency;
};

static uint64_t answered(const struct kvc_dido_real_counts *counts)
{
    return counts->hits + counts->misses + counts->sets + counts->deletes;
}

/* Adds what a thread did in a window, which is the difference of two copies. */
static void add_window(const struct kvc_dido_real_worked *now, const struct kvc_dido_real_worked *before,
                       uint32_t stage, struct sums *sums)
{
    sums->busy_ns[stage] += now->busy_ns - before->busy_ns;
    sums->served[stage] += now->served - before->served;
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        sums->task_ticks[task] += now->counts.task_ticks[task] - before->counts.task_ticks[task];
    }
    sums->hits += now->counts.hits - before->counts.hits;
    sums->misses += now->counts.misses - before->counts.misses;
    sums->sets += now->counts.sets - before->counts.sets;
    sums->deletes += now->counts.deletes - before->counts.deletes;
    sums->batches += now->batches - before->batches;
    sums->batch_queries += now->batch_queries - before->batch_queries;
    sums->period_ns += now->period_ns - before->period_ns;
    kvc_histogram_add_pack(sums->latency, &now->latency);
}

/* Adds up the wanted windows. Their latencies replace those in `latency`. */
static struct sums sum_up(const struct run *run, const bool *wanted, struct kvc_histogram *latency)
{
    uint32_t count = run->windows->watched.count;
    struct sums sums = {.windows = kvc_quiet_count(wanted, count), .latency = latency};
    kvc_histogram_reset(latency);
    for (uint32_t i = 0; i < run->node->workers; i++) {
        const struct kvc_dido_real_worked *worked = run->windows->worked[i];
        uint64_t queries = 0;
        double ns = 0;
        for (uint32_t w = FIRST; w < count; w++) {
            if (wanted[w]) {
                add_window(&worked[w], &worked[w - 1], run->node->worker[i].stage->number, &sums);
                queries += answered(&worked[w].counts) - answered(&worked[w - 1].counts);
                ns += worked[w].at_ns - worked[w - 1].at_ns;
            }
        }
        sums.mops += ns > 0 ? (double)queries / ns * 1e3 : 0;
    }
    return sums;
}

/* ---- the result ---- */

static void find_utilizations(const struct kvc_dido_real_node *node, const struct sums *sums,
                              double *utilization_frac)
{
    for (uint32_t s = 0; s < node->stages; s++) {
        double measured_ns =
            sums->windows * kvc_quiet_window_ns * kvc_dido_real_stage_workers(&node->stage[s].stage);
        utilization_frac[s] = fmin(sums->busy_ns[s] / measured_ns, 1);
    }
}

static void report_stages(const struct kvc_dido_real_node *node, const struct sums *sums,
                          struct kvc_result *result)
{
    double utilization_frac[KVC_STAGES_MAX];
    find_utilizations(node, sums, utilization_frac);
    for (uint32_t s = 0; s < node->stages; s++) {
        char name[KVC_NAME_MAX];
        snprintf(name, sizeof(name), "stage%u", s + 1);
        struct kvc_stage_result *stage = kvc_result_add_stage(
            result, name, node->stage[s].stage.on_gpu ? "gpu" : "cpu", utilization_frac[s]);
        stage->busy_s = sums->busy_ns[s] / 1e9;
        stage->served = sums->served[s];
    }
    kvc_bottleneck_find(result);
}

static void report_tasks(const struct run *run, const struct sums *sums, struct kvc_metrics *model)
{
    for (uint32_t s = 0; s < run->node->stages; s++) {
        if (run->node->stage[s].stage.on_gpu) {
            kvc_metrics_set_ratio(model, "gpu_ns", sums->busy_ns[s], (double)sums->served[s]);
            continue;
        }
        for (int task = 0; task < KVC_DIDO_TASKS && sums->served[s] > 0; task++) {
            if (kvc_dido_stage_has(&run->node->stage[s].stage, (enum kvc_dido_task)task)) {
                char name[KVC_NAME_MAX];
                snprintf(name, sizeof(name), "%s_ns", kvc_dido_task_names[task]);
                kvc_metrics_set(model, name,
                                (double)sums->task_ticks[task] * run->tick_ns / (double)sums->served[s]);
            }
        }
    }
}

/* Adds what the data structures counted in the whole run. */
static void report_kernel(const struct kvc_dido_real_node *node, struct kvc_result *result)
{
    struct kvc_index_stats index = {0};
    uint64_t evicted = 0, rejected = 0, foreign = 0;
    for (uint32_t i = 0; i < node->workers; i++) {
        const struct kvc_dido_real_counts *counts = &node->worker[i].bench.counts;
        kvc_index_stats_add(&index, &counts->index);
        evicted += counts->slab.evicted;
        rejected += counts->rejected;
        foreign += counts->foreign;
        result->requests_simulated += answered(counts);
    }
    kvc_metrics_set(&result->kernel, "load_factor_frac",
                    (double)kvc_index_used(node->store.index) /
                        (double)kvc_index_capacity(node->store.index));
    kvc_metrics_set_ratio(&result->kernel, "lines_per_search", (double)index.search_lines,
                          (double)index.searches);
    kvc_metrics_set_ratio(&result->kernel, "lines_per_insert", (double)index.insert_lines,
                          (double)index.inserts);
    kvc_metrics_set(&result->kernel, "index_dropped", (double)index.dropped);
    kvc_metrics_set(&result->kernel, "evictions", (double)evicted);
    kvc_metrics_set(&result->kernel, "rejected", (double)rejected);
    kvc_metrics_set(&result->kernel, "foreign", (double)foreign);
}

static struct kvc_quiet_flow flow_of(const void *data, uint32_t window)
{
    const struct run *run = data;
    struct kvc_quiet_flow flow = {.oldest_sent_ns = INFINITY};
    for (uint32_t i = 0; i < run->node->workers; i++) {
        const struct kvc_dido_real_worked *worked = &run->windows->worked[i][window];
        flow.caught_up = flow.caught_up || worked->caught_up;
        flow.oldest_sent_ns = fmin(flow.oldest_sent_ns, worked->oldest_sent_ns);
    }
    return flow;
}

static void add_up(const void *data, const bool *wanted, struct kvc_histogram *latency,
                   struct kvc_watched_part *part)
{
    const struct run *run = data;
    struct sums sums = sum_up(run, wanted, latency);
    part->mops = sums.mops;
    find_utilizations(run->node, &sums, part->utilization_frac);
}

static void report(const void *data, const bool *wanted, struct kvc_result *result)
{
    const struct run *run = data;
    struct sums sums = sum_up(run, wanted, &result->latency);
    result->hits = sums.hits;
    result->misses = sums.misses;
    result->gets = sums.hits + sums.misses;
    result->sets = sums.sets;
    result->deletes = sums.deletes;
    result->completed = result->gets + sums.sets + sums.deletes;
    result->offered = sums.served[0];
    result->has_histogram = true;
    result->throughput_mops = sums.mops;
    result->simulated_s = sums.windows * kvc_quiet_window_ns / 1e9;
    result->warmup_s = run->from_ns / 1e9;
    report_stages(run->node, &sums, result);
    report_tasks(run, &sums, &result->model);
    report_kernel(run->node, result);
    kvc_metrics_set_ratio(&result->model, "batch_queries", (double)sums.batch_queries, (double)sums.batches);
    kvc_metrics_set_ratio(&result->model, "undisturbed_mops", (double)run->node->undisturbed_queries * 1e3,
                          run->node->undisturbed_ns);
    kvc_metrics_set(&result->model, "undisturbed_ms", run->node->undisturbed_ns * 1e-6);
    kvc_metrics_set_ratio(&result->model, "period_us", sums.period_ns * 1e-3, (double)sums.batches);
}

void kvc_dido_real_report(const struct kvc_dido_real_node *node, struct kvc_dido_real_windows *windows,
                          double from_ns, struct kvc_result *result)
{
    const struct run run = {node, windows, from_ns, kvc_dido_real_tick_ns(node)};
    const struct kvc_watched_store store = {.data = &run,
                                            .flow_of = flow_of,
                                            .from_ns = from_ns,
                                            .open_loop = !node->saturating,
                                            .first = FIRST,
                                            .add_up = add_up,
                                            .report = report};
    kvc_watched_report(&windows->watched, &store, result);
}
