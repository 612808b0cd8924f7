#include "models/dido/real/forecast.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/dido/real/measure.h"
#include "models/dido/real/node.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/seeds.h"
#include "sim/probes/pin.h"

enum { WARMUP_PASSES = 200, PASSES = 400, GPU_PASSES = 100, GPU_WARMUP_PASSES = 10, ROUNDS = 3 };

/* Batch sizes for measuring the GPU: the smallest ones, and the largest of a pipeline. */
static const uint32_t gpu_sizes[KVC_DIDO_REAL_GPU_SIZES] = {1024, 4096, 16384, KVC_DIDO_BATCH_MAX};

/* The tasks of each stage when all tasks are apart, in the order of the stages. */
static const uint32_t groups[] = {
    1u << KVC_DIDO_RV | 1u << KVC_DIDO_PP,
    1u << KVC_DIDO_MM,
    1u << KVC_DIDO_INSERT | 1u << KVC_DIDO_ERASE,
    1u << KVC_DIDO_SEARCH,
    1u << KVC_DIDO_KC,
    1u << KVC_DIDO_RD,
    1u << KVC_DIDO_WR,
    1u << KVC_DIDO_SD,
};

void kvc_dido_real_costs_pipeline(uint32_t gpu_tasks, bool apart, struct kvc_dido_pipeline *pipeline)
{
    bool begins = true, placed = false;
    *pipeline = (struct kvc_dido_pipeline){0};
    for (size_t g = 0; g < sizeof(groups) / sizeof(*groups); g++) {
        if ((groups[g] & gpu_tasks) != 0 && !placed) {
            pipeline->stage[pipeline->stages++] = (struct kvc_dido_stage){.on_gpu = true, .tasks = gpu_tasks};
            begins = placed = true;
        }
        if ((groups[g] & ~gpu_tasks) == 0) {
            continue;
        }
        if (begins || apart) {
            pipeline->stage[pipeline->stages++] = (struct kvc_dido_stage){.cores = 1};
            begins = false;
        }
        pipeline->stage[pipeline->stages - 1].tasks |= groups[g] & ~gpu_tasks;
    }
}

/* ---- measuring ---- */

/* The costs of single batches, which pass one at a time. */
struct passes {
    uint32_t count;
    double *task_ns[KVC_DIDO_TASKS]; /* By batch: time of a query [ns]. */
    double *handling_ns; /* By batch: time of a query in a stage on the CPU besides its tasks [ns]. */
    double *gpu_ns;      /* By batch: time of the GPU [ns]. */
    double *queries;     /* By batch: its queries. */
};

static void passes_open(struct passes *passes)
{
    *passes = (struct passes){.handling_ns = kvc_array_of(PASSES, sizeof(double)),
                              .gpu_ns = kvc_array_of(PASSES, sizeof(double)),
                              .queries = kvc_array_of(PASSES, sizeof(double))};
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        passes->task_ns[task] = kvc_array_of(PASSES, sizeof(double));
    }
}

static void passes_close(struct passes *passes)
{
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        free(passes->task_ns[task]);
    }
    free(passes->handling_ns);
    free(passes->gpu_ns);
    free(passes->queries);
}

/* Runs a batch through all stages; each does the whole batch before the next one begins. */
static void pass_batch(struct kvc_dido_real_node *node)
{
    for (uint32_t s = 0; s < node->stages; s++) {
        do {
            kvc_dido_real_step(&node->worker[s]);
        } while (node->stage[s].batch != NULL && !atomic_load(&node->failed));
    }
}

/* Returns the time of the GPU so far [ns]. */
static double gpu_busy_ns(const struct kvc_dido_real_node *node)
{
    double ns = 0;
    for (uint32_t i = 0; i < node->workers; i++) {
        ns += node->worker[i].stage->stage.on_gpu ? node->worker[i].busy_ns : 0;
    }
    return ns;
}

/* Runs a batch through the stages and adds its costs. */
static void time_pass(struct kvc_dido_real_node *node, double tick_ns, struct passes *passes)
{
    uint64_t before[KVC_DIDO_TASKS], served = node->worker[0].served, started = kvc_clock_ticks();
    double gpu_ns = gpu_busy_ns(node);
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        before[task] = kvc_dido_real_task_ticks(node, (enum kvc_dido_task)task);
    }
    pass_batch(node);
    double handling_ns = (double)(kvc_clock_ticks() - started) * tick_ns;
    double queries = (double)(node->worker[0].served - served);
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        double ns =
            (double)(kvc_dido_real_task_ticks(node, (enum kvc_dido_task)task) - before[task]) * tick_ns;
        passes->task_ns[task][passes->count] = ns / queries;
        handling_ns -= ns;
    }
    gpu_ns = gpu_busy_ns(node) - gpu_ns;
    double stages = node->stages - (node->gpu != NULL ? 1 : 0);
    passes->gpu_ns[passes->count] = gpu_ns;
    passes->queries[passes->count] = queries;
    passes->handling_ns[passes->count++] = (handling_ns - gpu_ns) / queries / stages;
}

static double median_of(double *values, uint32_t count)
{
    gsl_sort(values, 1, count);
    return gsl_stats_median_from_sorted_data(values, 1, count);
}

/* Runs `count` batches of `queries` (0: as the node sizes them) after some warm-up batches. A batch during
 * which other work was done on the core does not move the medians. */
static void time_passes(struct kvc_dido_real_node *node, uint32_t queries, uint32_t warmup, uint32_t count,
                        struct passes *passes)
{
    passes->count = 0;
    for (uint32_t i = 0; i < warmup + count && !atomic_load(&node->failed); i++) {
        if (queries > 0) {
            atomic_store_explicit(&node->batch_queries, queries, memory_order_relaxed);
        }
        if (i < warmup) {
            pass_batch(node);
        } else {
            time_pass(node, kvc_dido_real_tick_ns(node), passes);
        }
    }
}

/* Measures the GPU's time by the size of a batch. */
static void time_gpu(struct kvc_dido_real_node *node, struct passes *passes,
                     struct kvc_dido_real_costs *costs)
{
    for (int i = 0; i < KVC_DIDO_REAL_GPU_SIZES && !atomic_load(&node->failed); i++) {
        time_passes(node, gpu_sizes[i], GPU_WARMUP_PASSES, GPU_PASSES, passes);
        costs->gpu_queries[i] = median_of(passes->queries, passes->count);
        costs->gpu_ns[i] = median_of(passes->gpu_ns, passes->count);
    }
}

/* Measures the tasks of a pipeline whose stages each have one core, all on the first core. */
static enum kvc_status measure_pipeline(const struct kvc_scenario *original, struct kvc_shards *store,
                                        bool apart, uint32_t queries, struct kvc_dido_real_costs *costs,
                                        struct kvc_diag *diag)
{
    struct kvc_dido_config config = *kvc_dido_config_of(original);
    struct kvc_scenario scenario = *original;
    struct passes passes;
    double handling_ns;
    kvc_dido_real_costs_pipeline(costs->gpu_tasks, apart, &config.pipeline);
    scenario.config = &config;
    enum kvc_status status = kvc_dido_real_gpu_check(&config.pipeline, diag);
    if (status != KVC_OK) {
        return status;
    }
    struct kvc_dido_real_node *node =
        kvc_dido_real_node_create(&scenario, &store->shards[0], KVC_DIDO_REAL_FEED_BYTES, diag);
    if (node == NULL) {
        return diag->status;
    }
    passes_open(&passes);
    kvc_pin_core(0);
    kvc_dido_real_node_start(node);
    time_passes(node, queries, WARMUP_PASSES, PASSES, &passes);
    for (int task = 0; task < KVC_DIDO_TASKS && !atomic_load(&node->failed); task++) {
        double *task_ns = apart ? costs->apart_ns : costs->together_ns;
        task_ns[task] = median_of(passes.task_ns[task], passes.count);
    }
    if (!atomic_load(&node->failed)) {
        handling_ns = median_of(passes.handling_ns, passes.count);
        costs->handling_ns = apart ? costs->handling_ns : handling_ns;
    }
    if (apart && costs->gpu_tasks != 0) {
        time_gpu(node, &passes, costs);
    }
    kvc_pin_release();
    passes_close(&passes);
    if (atomic_load(&node->failed) || !kvc_dido_real_node_count(node)) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU failed while its tasks were measured");
    }
    kvc_dido_real_node_free(node);
    return status;
}

/* Returns the median of one number of all rounds, which are `step` costs apart. */
static double median_of_rounds(const struct kvc_dido_real_costs *costs, uint32_t step, size_t offset)
{
    double values[ROUNDS];
    for (uint32_t i = 0; i < ROUNDS; i++) {
        memcpy(&values[i], (const char *)&costs[i * step] + offset, sizeof(double));
    }
    return median_of(values, ROUNDS);
}

/* Returns the medians of the costs of all rounds. The core may have been slower in one of them. */
static struct kvc_dido_real_costs median_costs(const struct kvc_dido_real_costs *costs, uint32_t step)
{
    struct kvc_dido_real_costs median = {.gpu_tasks = costs->gpu_tasks};
    double *numbers[] = {median.together_ns, median.apart_ns, &median.handling_ns, median.gpu_queries,
                         median.gpu_ns};
    const uint32_t counts[] = {KVC_DIDO_TASKS, KVC_DIDO_TASKS, 1, KVC_DIDO_REAL_GPU_SIZES,
                               KVC_DIDO_REAL_GPU_SIZES};
    for (size_t n = 0; n < sizeof(counts) / sizeof(*counts); n++) {
        size_t offset = (size_t)((const char *)numbers[n] - (const char *)&median);
        for (uint32_t i = 0; i < counts[n]; i++) {
            numbers[n][i] = median_of_rounds(costs, step, offset + i * sizeof(double));
        }
    }
    return median;
}

/* Sets the times of all tasks in one stage on `cores` cores from a measured run [ns]. */
static enum kvc_status measure_team(const struct kvc_scenario *original, uint32_t cores,
                                    const struct kvc_progress *progress, double *task_ns,
                                    struct kvc_diag *diag)
{
    struct kvc_dido_config config = *kvc_dido_config_of(original);
    struct kvc_scenario scenario = *original;
    struct kvc_result *result = kvc_array_of(1, sizeof(*result));
    kvc_dido_real_costs_pipeline(0, false, &config.pipeline);
    config.pipeline.stage[0].cores = cores;
    scenario.config = &config;
    enum kvc_status status = kvc_measurable_run(&kvc_dido_measurable, &scenario, progress, result, diag);
    for (int task = 0; status == KVC_OK && task < KVC_DIDO_TASKS; task++) {
        char name[KVC_NAME_MAX];
        snprintf(name, sizeof(name), "%s_ns", kvc_dido_task_names[task]);
        task_ns[task] = kvc_metrics_get(&result->model, name);
    }
    free(result);
    return status;
}

static enum kvc_status measure_sharing(const struct kvc_scenario *scenario, uint32_t team,
                                       const struct kvc_progress *progress, double *ratio,
                                       struct kvc_diag *diag)
{
    double alone_ns[KVC_DIDO_TASKS], team_ns[KVC_DIDO_TASKS];
    enum kvc_status status = measure_team(scenario, 1, progress, alone_ns, diag);
    if (status == KVC_OK) {
        status = measure_team(scenario, team, progress, team_ns, diag);
    }
    for (int task = 0; status == KVC_OK && task < KVC_DIDO_TASKS; task++) {
        ratio[task] = alone_ns[task] > 0 ? team_ns[task] / alone_ns[task] : 1;
    }
    return status;
}

enum kvc_status kvc_dido_real_costs_measure(const struct kvc_scenario *scenario, const uint32_t *gpu_tasks,
                                            uint32_t count, uint32_t batch_queries, uint32_t team,
                                            const struct kvc_progress *progress,
                                            struct kvc_dido_real_costs *costs, struct kvc_diag *diag)
{
    struct kvc_shards *store = NULL;
    double ratio[KVC_DIDO_TASKS];
    uint64_t seed = kvc_seed_of_replica(scenario->run.seed, 0);
    enum kvc_status status = measure_sharing(scenario, team, progress, ratio, diag);
    if (status == KVC_OK) {
        status = kvc_dido_store_create(scenario, seed, progress, &store, diag);
    }
    if (status != KVC_OK) {
        return status;
    }
    struct kvc_dido_real_costs *rounds = kvc_array_of(ROUNDS * count, sizeof(*rounds));
    kvc_megakv_slab_touch(store->shards[0].slab);
    for (uint32_t i = 0; status == KVC_OK && i < ROUNDS * count; i++) {
        rounds[i] = (struct kvc_dido_real_costs){.gpu_tasks = gpu_tasks[i % count]};
        status = measure_pipeline(scenario, store, false, batch_queries, &rounds[i], diag);
        if (status == KVC_OK) {
            status = measure_pipeline(scenario, store, true, batch_queries, &rounds[i], diag);
        }
    }
    for (uint32_t i = 0; status == KVC_OK && i < count; i++) {
        costs[i] = median_costs(&rounds[i], count);
        memcpy(costs[i].shared_ratio, ratio, sizeof(ratio));
    }
    free(rounds);
    kvc_shards_free(store);
    return status;
}

/* ---- the forecast ---- */

/* Returns whether a task follows another task of its stage, whose rows are still in the nearest caches. The
 * work of KC and RD depends on whether they are one read, and the work of WR on whether RD has written for
 * it. */
static bool follows(const struct kvc_dido_stage *stage, enum kvc_dido_task task)
{
    switch (task) {
    case KVC_DIDO_KC:
        return kvc_dido_stage_has(stage, KVC_DIDO_RD);
    case KVC_DIDO_RD:
        return kvc_dido_stage_has(stage, KVC_DIDO_KC);
    case KVC_DIDO_WR:
        return kvc_dido_stage_has(stage, KVC_DIDO_RD);
    default:
        return (stage->tasks & ((1u << task) - 1)) != 0 || task == KVC_DIDO_RV;
    }
}

double kvc_dido_real_stage_ns(const struct kvc_dido_real_costs *costs, const struct kvc_dido_stage *stage,
                              bool shares)
{
    double ns = costs->handling_ns;
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        if (kvc_dido_stage_has(stage, (enum kvc_dido_task)task)) {
            bool behind = follows(stage, (enum kvc_dido_task)task);
            ns += (behind ? costs->together_ns[task] : costs->apart_ns[task]) *
                  (shares ? costs->shared_ratio[task] : 1);
        }
    }
    return ns / stage->cores;
}

double kvc_dido_real_stage_batch_ns(const struct kvc_dido_real_costs *costs,
                                    const struct kvc_dido_stage *stage, bool shares, double queries)
{
    if (!stage->on_gpu) {
        return queries * kvc_dido_real_stage_ns(costs, stage, shares);
    }
    const double *size = costs->gpu_queries, *ns = costs->gpu_ns;
    int i = 1;
    while (i + 1 < KVC_DIDO_REAL_GPU_SIZES && queries > size[i]) {
        i++;
    }
    double slope = (ns[i] - ns[i - 1]) / (size[i] - size[i - 1]);
    return ns[i] + slope * (queries - size[i]);
}

static double slowest_ns(const struct kvc_dido_real_costs *costs, const struct kvc_dido_pipeline *pipeline,
                         double queries)
{
    double slowest = 0;
    uint32_t cores = 0;
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        cores += pipeline->stage[s].cores;
    }
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        slowest = fmax(slowest, kvc_dido_real_stage_batch_ns(costs, &pipeline->stage[s], cores > 1, queries));
    }
    return slowest;
}

double kvc_dido_real_forecast_mops(const struct kvc_dido_real_costs *costs,
                                   const struct kvc_dido_pipeline *pipeline, double interval_ns)
{
    double least = 1, most = KVC_DIDO_BATCH_MAX;
    if (slowest_ns(costs, pipeline, most) <= interval_ns) {
        least = most;
    }
    while (most - least > 0.5) {
        double middle = (least + most) / 2;
        *(slowest_ns(costs, pipeline, middle) <= interval_ns ? &least : &most) = middle;
    }
    return least * 1e3 / slowest_ns(costs, pipeline, least);
}

uint32_t kvc_dido_real_gpu_tasks(const struct kvc_dido_pipeline *pipeline)
{
    uint32_t tasks = 0;
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        tasks |= pipeline->stage[s].on_gpu ? pipeline->stage[s].tasks : 0;
    }
    return tasks;
}
