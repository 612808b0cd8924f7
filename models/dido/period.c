#include "models/dido/period.h"

#include <math.h>

enum { BISECTIONS = 50 };

/* The work of all stages on a batch. */
struct work {
    const struct kvc_dido_config *config;
    const struct kvc_dido_pipeline *pipeline;
    const struct kvc_dido_mix *mix;
    double queries;
    struct kvc_dido_cost cost[KVC_DIDO_STAGES_MAX];
};

static double stage_ns(const struct kvc_dido_stage *stage, const struct kvc_dido_cost *cost)
{
    return stage->on_gpu ? cost->launch_ns + cost->kernel_ns : cost->core_ns / stage->cores;
}

/* Returns the time of taking all sets of a batch [ns]. */
static double taking_ns(const struct work *work)
{
    const struct kvc_dido_options *options = work->config->options;
    return ceil(work->queries / (double)options->steal_set) * options->steal_ns;
}

static struct kvc_dido_cost stolen_cost(const struct work *work, uint32_t tasks, bool on_gpu)
{
    return kvc_dido_cost_of(work->config, work->pipeline, tasks, on_gpu, work->mix, work->queries);
}

/* Returns the share of the GPU's batch that is done after `ns`, with the cores that have no more to do. */
static double done_by(const struct work *work, const struct kvc_dido_period *period, uint32_t gpu,
                      double stolen_core_ns, double ns)
{
    double done = fmax(ns - work->cost[gpu].launch_ns, 0) / work->cost[gpu].kernel_ns;
    for (uint32_t s = 0; s < work->pipeline->stages; s++) {
        if (s != gpu) {
            done += fmax(ns - period->stage_ns[s], 0) * work->pipeline->stage[s].cores / stolen_core_ns;
        }
    }
    return done;
}

/* The cores help the GPU. */
static void steal_from_gpu(const struct work *work, struct kvc_dido_period *period)
{
    uint32_t gpu = period->slowest;
    struct kvc_dido_cost stolen = stolen_cost(work, kvc_dido_stealable(&work->pipeline->stage[gpu]), false);
    double core_ns = stolen.core_ns + taking_ns(work), low = 0, high = period->ns;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;
        if (done_by(work, period, gpu, core_ns, middle) < 1) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double kept = fmax(high - work->cost[gpu].launch_ns, 0) / work->cost[gpu].kernel_ns;
    for (uint32_t s = 0; s < work->pipeline->stages; s++) {
        bool helps = s != gpu && period->stage_ns[s] < high;
        period->busy_ns[s] = helps ? high : period->busy_ns[s];
    }
    period->busy_ns[gpu] = high;
    period->stolen_frac = fmax(1 - kept, 0);
    period->ns = high;
}

/* The GPU helps the slowest stage of the cores, as long as no other stage is slower. */
static void steal_from_cores(const struct work *work, struct kvc_dido_period *period, uint32_t gpu)
{
    uint32_t slowest = period->slowest;
    const struct kvc_dido_stage *stage = &work->pipeline->stage[slowest];
    uint32_t tasks = kvc_dido_stealable(stage);
    if (tasks == 0) {
        return;
    }
    struct kvc_dido_cost on_gpu = stolen_cost(work, tasks, true), on_core = stolen_cost(work, tasks, false);
    double kernel_ns = on_gpu.kernel_ns + taking_ns(work), saved_ns = on_core.core_ns / stage->cores;
    double begins_ns = (gpu < work->pipeline->stages ? period->stage_ns[gpu] : 0) + on_gpu.launch_ns;
    double others_ns = 0;
    for (uint32_t s = 0; s < work->pipeline->stages; s++) {
        others_ns = s != slowest ? fmax(others_ns, period->stage_ns[s]) : others_ns;
    }
    double even = (period->ns - begins_ns) / (saved_ns + kernel_ns);
    double enough = (period->ns - others_ns) / saved_ns;
    double stolen = fmax(fmin(fmin(even, enough), 1), 0);
    period->stolen_frac = stolen;
    period->ns -= stolen * saved_ns;
    period->busy_ns[slowest] = period->ns;
    if (stolen > 0 && gpu < work->pipeline->stages) {
        period->busy_ns[gpu] += on_gpu.launch_ns + stolen * kernel_ns;
        period->launch_ns[gpu] += on_gpu.launch_ns;
    }
}

struct kvc_dido_period kvc_dido_period_of(const struct kvc_dido_config *config,
                                          const struct kvc_dido_pipeline *pipeline,
                                          const struct kvc_dido_mix *mix, double queries)
{
    struct work work = {.config = config, .pipeline = pipeline, .mix = mix, .queries = queries};
    struct kvc_dido_period period = {0};
    uint32_t gpu = pipeline->stages;
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        const struct kvc_dido_stage *stage = &pipeline->stage[s];
        work.cost[s] = kvc_dido_cost_of(config, pipeline, stage->tasks, stage->on_gpu, mix, queries);
        period.stage_ns[s] = period.busy_ns[s] = stage_ns(stage, &work.cost[s]);
        period.launch_ns[s] = work.cost[s].launch_ns;
        period.memory_ns += work.cost[s].channel_ns / kvc_dram_channels(config->dram);
        period.slowest = period.stage_ns[s] > period.stage_ns[period.slowest] ? s : period.slowest;
        gpu = stage->on_gpu ? s : gpu;
    }
    period.ns = period.stage_ns[period.slowest];
    if (config->options->stealing && gpu < pipeline->stages && period.slowest == gpu) {
        steal_from_gpu(&work, &period);
    } else if (config->options->stealing && config->gpu != NULL) {
        steal_from_cores(&work, &period, gpu);
    }
    period.ns = fmax(period.ns, period.memory_ns);
    return period;
}
