#include "models/dido/real/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/dido/real/node.h"
#include "sim/base/array.h"
#include "sim/base/seeds.h"
#include "sim/metrics/bottleneck.h"
#include "sim/probes/pin.h"

static enum kvc_status check_pipeline(const struct kvc_dido_pipeline *pipeline, struct kvc_diag *diag)
{
    enum kvc_status status = kvc_dido_real_gpu_check(pipeline, diag);
    if (status != KVC_OK) {
        return status;
    }
    uint32_t needed = kvc_dido_real_workers(pipeline), cores = kvc_pin_cores();
    uint32_t most = cores < KVC_DIDO_REAL_WORKERS_MAX ? cores : KVC_DIDO_REAL_WORKERS_MAX;
    return needed <= most
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                               "system.pipeline: found stages with %u cores, that of the thread of the gpu's "
                               "stage included; this machine allows %u",
                               needed, most);
}

static enum kvc_status check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_dido_config *config = kvc_dido_config_of(scenario);
    if (config->feed != KVC_DIDO_MEMORY) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.feed: found \"network\"; a measurement allows \"memory\", requests that lie in memory");
    }
    if (config->options->stealing) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.stealing: found true; a measurement allows false, no stage helps "
                             "another one");
    }
    if (scenario->run.functional != KVC_FUNCTIONAL_FULL) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "run.functional: found a store without all keys and values; a measurement allows "
            "\"full\"");
    }
    return check_pipeline(&config->pipeline, diag);
}

/* ---- tasks ---- */

/* The workers' own counts; the ticks of task t are in TICKS + t. */
enum { BATCHES, BATCH_QUERIES, PERIOD_NS, TICKS };
_Static_assert((int)TICKS + (int)KVC_DIDO_TASKS <= (int)KVC_MEASURED_OWN_MAX, "room for a worker's counts");

static void count_worked(const void *data, struct kvc_measured_counts *counts)
{
    const struct kvc_dido_real_worker *worker = data;
    const struct kvc_dido_real_counts *counted = &worker->bench.counts;
    *counts = (struct kvc_measured_counts){.busy_ns = worker->busy_ns,
                                           .served = (double)worker->served,
                                           .hits = (double)counted->hits,
                                           .misses = (double)counted->misses,
                                           .sets = (double)counted->sets,
                                           .deletes = (double)counted->deletes,
                                           .own = {[BATCHES] = (double)worker->batches,
                                                   [BATCH_QUERIES] = (double)worker->batch_queries,
                                                   [PERIOD_NS] = worker->period_ns}};
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        counts->own[TICKS + task] = (double)counted->task_ticks[task];
    }
}

/* Gives every worker a core of its own. */
static void deal_workers(struct kvc_dido_real_node *node, struct kvc_measured *measured)
{
    for (uint32_t i = 0; i < node->workers; i++) {
        struct kvc_dido_real_worker *worker = &node->worker[i];
        kvc_measured_add(measured, &(struct kvc_measured_task){.core = i,
                                                               .stage = worker->stage->number,
                                                               .step = kvc_dido_real_step,
                                                               .count = count_worked,
                                                               .data = worker,
                                                               .caught_up = &worker->caught_up,
                                                               .oldest_sent_ns = &worker->oldest_sent_ns,
                                                               .latency = worker->latency});
    }
}

/* ---- the result ---- */

static void find_part(const void *data, const struct kvc_measured_sum *sum, struct kvc_watched_part *part)
{
    const struct kvc_dido_real_node *node = data;
    for (uint32_t s = 0; s < node->stages; s++) {
        double workers_ns = sum->window_ns * kvc_dido_real_stage_workers(&node->stage[s].stage);
        part->utilization_frac[s] = fmin(sum->stage[s].busy_ns / workers_ns, 1);
    }
}

static void report_stages(const struct kvc_dido_real_node *node, const struct kvc_measured_sum *sum,
                          struct kvc_result *result)
{
    struct kvc_watched_part part;
    find_part(node, sum, &part);
    for (uint32_t s = 0; s < node->stages; s++) {
        char name[KVC_NAME_MAX];
        snprintf(name, sizeof(name), "stage%u", s + 1);
        struct kvc_stage_result *stage = kvc_result_add_stage(
            result, name, node->stage[s].stage.on_gpu ? "gpu" : "cpu", part.utilization_frac[s]);
        stage->busy_s = sum->stage[s].busy_ns / 1e9;
        stage->served = (uint64_t)sum->stage[s].served;
    }
    kvc_bottleneck_find(result);
}

/* Adds the time of each task for a query: PP_ns, search_ns and so on. It is the time of the threads for all
 * queries of a set, over all queries of the set. A stage on the GPU has gpu_ns instead, from the launch of
 * its kernels until their end is known. */
static void report_tasks(const struct kvc_dido_real_node *node, const struct kvc_measured_sum *sum,
                         struct kvc_metrics *model)
{
    double tick_ns = kvc_dido_real_tick_ns(node);
    for (uint32_t s = 0; s < node->stages; s++) {
        double served = sum->stage[s].served;
        if (node->stage[s].stage.on_gpu) {
            kvc_metrics_set_ratio(model, "gpu_ns", sum->stage[s].busy_ns, served);
            continue;
        }
        for (int task = 0; task < KVC_DIDO_TASKS && served > 0; task++) {
            if (kvc_dido_stage_has(&node->stage[s].stage, (enum kvc_dido_task)task)) {
                char name[KVC_NAME_MAX];
                snprintf(name, sizeof(name), "%s_ns", kvc_dido_task_names[task]);
                kvc_metrics_set(model, name, sum->all.own[TICKS + task] * tick_ns / served);
            }
        }
    }
}

/* Adds the counts of the data structures over the whole run. */
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
        result->requests_simulated += counts->hits + counts->misses + counts->sets + counts->deletes;
    }
    kvc_metrics_set(&result->kernel, "load_factor_frac",
                    (double)kvc_index_used(node->store.index) /
                        (double)kvc_index_capacity(node->store.index));
    kvc_shards_report_lines(&(struct kvc_index_stats){0}, &index, &result->kernel);
    kvc_metrics_set(&result->kernel, "index_dropped", (double)index.dropped);
    kvc_metrics_set(&result->kernel, "evictions", (double)evicted);
    kvc_metrics_set(&result->kernel, "rejected", (double)rejected);
    kvc_metrics_set(&result->kernel, "foreign", (double)foreign);
}

/* Adds the stages and metrics. On a machine that is never quiet for a whole window, undisturbed_mops is the
 * throughput of the batches during which no thread was kept from running for 100 us, over undisturbed_ms of
 * the whole run. */
static void report(const void *data, const struct kvc_measured_sum *sum, struct kvc_result *result)
{
    const struct kvc_dido_real_node *node = data;
    const double *own = sum->all.own;
    report_stages(node, sum, result);
    report_tasks(node, sum, &result->model);
    report_kernel(node, result);
    kvc_metrics_set_ratio(&result->model, "batch_queries", own[BATCH_QUERIES], own[BATCHES]);
    kvc_metrics_set_ratio(&result->model, "undisturbed_mops", (double)node->undisturbed_queries * 1e3,
                          node->undisturbed_ns);
    kvc_metrics_set(&result->model, "undisturbed_ms", node->undisturbed_ns * 1e-6);
    kvc_metrics_set_ratio(&result->model, "period_us", own[PERIOD_NS] * 1e-3, own[BATCHES]);
}

/* ---- the run ---- */

/* A store and the node that works on it. */
struct measuring {
    struct kvc_shards *store;
    struct kvc_dido_real_node *node;
};

static enum kvc_status open_store(const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                                  void **opened, struct kvc_diag *diag)
{
    struct measuring *measuring = *opened = kvc_array_of(1, sizeof(*measuring));
    enum kvc_status status = kvc_dido_store_create(scenario, kvc_seed_of_replica(scenario->run.seed, 0),
                                                   progress, &measuring->store, diag);
    if (status != KVC_OK) {
        return status;
    }
    kvc_megakv_slab_touch(measuring->store->shards[0].slab);
    measuring->node =
        kvc_dido_real_node_create(scenario, &measuring->store->shards[0], KVC_DIDO_REAL_FEED_BYTES, diag);
    return measuring->node != NULL ? KVC_OK : diag->status;
}

static void close_store(void *opened)
{
    struct measuring *measuring = opened;
    if (measuring != NULL) {
        kvc_dido_real_node_free(measuring->node);
        kvc_shards_free(measuring->store);
        free(measuring);
    }
}

/* The counts begin with the warm-up: the first window is left out, so that the difference of two copies
 * covers one window. */
static void join(void *opened, struct kvc_measured *measured, struct kvc_measured_store *reports)
{
    const struct measuring *measuring = opened;
    struct kvc_dido_real_node *node = measuring->node;
    deal_workers(node, measured);
    kvc_dido_real_node_start(node);
    *reports = (struct kvc_measured_store){.data = node,
                                           .failed = &node->failed,
                                           .preload_wall_s = measuring->store->preload_wall_s,
                                           .open_loop = !node->saturating,
                                           .one_feed = true,
                                           .part = find_part,
                                           .report = report};
}

static void set_clock(void *opened, double started_s)
{
    const struct measuring *measuring = opened;
    kvc_dido_real_node_set_clock(measuring->node, started_s);
}

static enum kvc_status finish(void *opened, struct kvc_diag *diag)
{
    const struct measuring *measuring = opened;
    return !atomic_load(&measuring->node->failed) && kvc_dido_real_node_count(measuring->node)
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU failed during the measurement");
}

const struct kvc_measurable kvc_dido_measurable = {.check = check,
                                                   .open = open_store,
                                                   .close = close_store,
                                                   .join = join,
                                                   .set_clock = set_clock,
                                                   .finish = finish};
