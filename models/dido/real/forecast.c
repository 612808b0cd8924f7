#include "models/dido/real/forecast.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "models/dido/dido.h"
#include "models/dido/real/node.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/seeds.h"
#include "validate/probes/pin.h"

enum { WARMUP_PASSES = 200, PASSES = 400 };

const char kvc_dido_real_together[] = "cpu:1 RV PP MM search insert delete KC RD WR SD";
const char kvc_dido_real_apart[] = "cpu:1 RV PP > cpu:1 MM > cpu:1 search > cpu:1 insert delete > cpu:1 KC > "
                                   "cpu:1 RD > cpu:1 WR > cpu:1 SD";

/* Sets the scenario and its configuration to copies with another pipeline. */
static void with_pipeline(const struct kvc_scenario *original, const char *text,
                          struct kvc_dido_config *config, struct kvc_scenario *scenario)
{
    struct kvc_diag diag;
    *config = *kvc_dido_config_of(original);
    *scenario = *original;
    scenario->config = config;
    if (kvc_dido_pipeline_parse(text, &config->pipeline, &diag) != KVC_OK) {
        KVC_BUG("%s", diag.message);
    }
}

/* The costs of single batches, which pass one at a time. */
struct passes {
    uint32_t count;
    double *task_ns[KVC_DIDO_TASKS]; /* By batch: of a query. */
    double *handling_ns;
};

/* Lets a batch pass all stages, each of which does the whole batch before the next one begins. */
static void pass_batch(struct kvc_dido_real_node *node)
{
    for (uint32_t s = 0; s < node->stages; s++) {
        do {
            kvc_dido_real_step(&node->worker[s]);
        } while (node->stage[s].batch != NULL);
    }
}

/* Passes a batch and adds its costs. */
static void time_pass(struct kvc_dido_real_node *node, double tick_ns, struct passes *passes)
{
    uint64_t before[KVC_DIDO_TASKS], served = node->worker[0].served, started = kvc_clock_ticks();
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        before[task] = kvc_dido_real_task_ticks(node, (enum kvc_dido_task)task);
    }
    pass_batch(node);
    double handling = (double)(kvc_clock_ticks() - started);
    double each_ns = tick_ns / (double)(node->worker[0].served - served);
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        double ticks = (double)(kvc_dido_real_task_ticks(node, (enum kvc_dido_task)task) - before[task]);
        passes->task_ns[task][passes->count] = ticks * each_ns;
        handling -= ticks;
    }
    passes->handling_ns[passes->count++] = handling * each_ns;
}

static double median_of(double *values, uint32_t count)
{
    gsl_sort(values, 1, count);
    return gsl_stats_median_from_sorted_data(values, 1, count);
}

/* Passes batches on the first core and sets the medians of their costs. A batch during which other work was
 * done on the core does not move them. */
static void time_passes(struct kvc_dido_real_node *node, double *task_ns, double *handling_ns)
{
    struct passes passes = {.handling_ns = kvc_array_of(PASSES, sizeof(double))};
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        passes.task_ns[task] = kvc_array_of(PASSES, sizeof(double));
    }
    kvc_pin_core(0);
    kvc_dido_real_node_start(node);
    for (int i = 0; i < WARMUP_PASSES; i++) {
        pass_batch(node);
    }
    double tick_ns = kvc_dido_real_tick_ns(node);
    while (passes.count < PASSES) {
        time_pass(node, tick_ns, &passes);
    }
    kvc_pin_release();
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        task_ns[task] = median_of(passes.task_ns[task], PASSES);
        free(passes.task_ns[task]);
    }
    *handling_ns = median_of(passes.handling_ns, PASSES);
    free(passes.handling_ns);
}

/* Measures the tasks of a pipeline whose stages each have one core, all on the first core. */
static enum kvc_status measure_pipeline(const struct kvc_scenario *original, const char *pipeline,
                                        const struct kvc_progress *progress, double *task_ns,
                                        double *handling_ns, struct kvc_diag *diag)
{
    struct kvc_dido_config config;
    struct kvc_scenario scenario;
    void *state = NULL;
    with_pipeline(original, pipeline, &config, &scenario);
    uint64_t seed = kvc_seed_of_replica(scenario.run.seed, 0);
    enum kvc_status status = kvc_dido_model.prepare(&scenario, seed, &state, progress, diag);
    if (status != KVC_OK) {
        return status;
    }
    struct kvc_megakv_store *store = state;
    kvc_megakv_slab_touch(store->shards[0].slab);
    struct kvc_dido_real_node *node =
        kvc_dido_real_node_create(&scenario, &store->shards[0], KVC_DIDO_REAL_FEED_BYTES, diag);
    if (node != NULL) {
        time_passes(node, task_ns, handling_ns);
    }
    kvc_dido_real_node_free(node);
    kvc_megakv_store_free(store);
    return node != NULL ? KVC_OK : diag->status;
}

enum kvc_status kvc_dido_real_costs_measure(const struct kvc_scenario *scenario,
                                            const struct kvc_progress *progress,
                                            struct kvc_dido_real_costs *costs, struct kvc_diag *diag)
{
    double apart_handling_ns;
    enum kvc_status status = measure_pipeline(scenario, kvc_dido_real_together, progress, costs->together_ns,
                                              &costs->handling_ns, diag);
    return status == KVC_OK ? measure_pipeline(scenario, kvc_dido_real_apart, progress, costs->apart_ns,
                                               &apart_handling_ns, diag)
                            : status;
}

/* ---- the forecast ---- */

/* Returns whether a task follows another task of its stage, whose rows are still in the nearest caches. What
 * KC and RD do depends on whether they are one read, and what WR does on whether RD has written for it. */
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

double kvc_dido_real_stage_ns(const struct kvc_dido_real_costs *costs, const struct kvc_dido_stage *stage)
{
    double ns = costs->handling_ns;
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        if (kvc_dido_stage_has(stage, (enum kvc_dido_task)task)) {
            ns += follows(stage, (enum kvc_dido_task)task) ? costs->together_ns[task] : costs->apart_ns[task];
        }
    }
    return ns / stage->cores;
}

double kvc_dido_real_forecast_mops(const struct kvc_dido_real_costs *costs,
                                   const struct kvc_dido_pipeline *pipeline)
{
    double slowest_ns = 0;
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        slowest_ns = fmax(slowest_ns, kvc_dido_real_stage_ns(costs, &pipeline->stage[s]));
    }
    return 1e3 / slowest_ns;
}
