#include "models/dido/period.h"

#include <math.h>

#include "models/dido/flow.h"

/* The work of all stages on a batch. */
struct work {
    const struct kvc_dido_config *config;
    const struct kvc_dido_pipeline *pipeline;
    const struct kvc_dido_mix *mix;
    double queries;
    struct kvc_dido_cost whole[KVC_DIDO_STAGES_MAX]; /* Of each stage, by its own processor. */
};

static double stage_ns(const struct kvc_dido_stage *stage, const struct kvc_dido_cost *cost)
{
    return stage->on_gpu ? cost->launch_ns + cost->kernel_ns : cost->core_ns / stage->cores;
}

/* Returns the time of the busier direction of the link. */
static double link_ns(const struct kvc_dido_cost *cost)
{
    return fmax(cost->down_ns, cost->up_ns);
}

bool kvc_dido_steals(const struct kvc_dido_config *config, const struct kvc_dido_pipeline *pipeline)
{
    bool on_gpu = false;
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        on_gpu = on_gpu || pipeline->stage[s].on_gpu;
    }
    return config->options->stealing && on_gpu && pipeline->stages > 1;
}

/* Returns what tasks with this cost take of one core or of the GPU for the whole batch. Sets are taken only
 * where there may be a thief. */
static struct kvc_dido_flow_work flow_work(const struct kvc_dido_config *config,
                                           const struct kvc_dido_pipeline *pipeline,
                                           const struct kvc_dido_cost *cost, uint32_t tasks, bool on_gpu,
                                           double queries)
{
    bool takes = tasks != 0 && kvc_dido_steals(config, pipeline);
    double taking_ns = takes ? kvc_dido_taking_ns(config, on_gpu, queries) : 0;
    return (struct kvc_dido_flow_work){.launch_ns = cost->launch_ns,
                                       .alone_ns = (on_gpu ? cost->kernel_ns : cost->core_ns) + taking_ns,
                                       .channel_ns = cost->channel_ns,
                                       .link_ns = link_ns(cost)};
}

struct kvc_dido_flow_work kvc_dido_flow_work_of(const struct kvc_dido_config *config,
                                                const struct kvc_dido_pipeline *pipeline, uint32_t tasks,
                                                bool on_gpu, const struct kvc_dido_mix *mix, double queries)
{
    struct kvc_dido_cost cost = kvc_dido_cost_of(config, pipeline, tasks, on_gpu, mix, queries);
    return flow_work(config, pipeline, &cost, tasks, on_gpu, queries);
}

/* Returns the work of all cores of a stage, given that of one. */
static struct kvc_dido_flow_work by_cores(const struct kvc_dido_flow_work *work, double cores)
{
    struct kvc_dido_flow_work divided = *work;
    divided.alone_ns /= cores;
    return divided;
}

struct kvc_dido_flow_stage kvc_dido_flow_stage_of(const struct kvc_dido_stage *stage, bool can_be_stolen,
                                                  const struct kvc_dido_flow_work *whole,
                                                  const struct kvc_dido_flow_work *stolen,
                                                  const struct kvc_dido_flow_work *rest)
{
    double cores = stage->on_gpu ? 1 : stage->cores;
    return (struct kvc_dido_flow_stage){.on_gpu = stage->on_gpu,
                                        .can_be_stolen = can_be_stolen,
                                        .cores = cores,
                                        .whole = by_cores(whole, cores),
                                        .stolen = *stolen,
                                        .rest = by_cores(rest, cores)};
}

/* Returns whether the stages together want more of the memory than it has while all of them work. */
static bool contend(const struct work *work)
{
    double wanted = 0;
    for (uint32_t s = 0; s < work->pipeline->stages; s++) {
        const struct kvc_dido_stage *stage = &work->pipeline->stage[s];
        const struct kvc_dido_cost *whole = &work->whole[s];
        double alone_ns = stage->on_gpu ? whole->kernel_ns : whole->core_ns / stage->cores;
        wanted += alone_ns > 0 ? whole->channel_ns / alone_ns : 0;
    }
    return wanted > kvc_dram_channels(work->config->dram);
}

/* Lets the batches flow, with stealing or for the memory alone. */
static void let_flow(const struct work *work, struct kvc_dido_period *period)
{
    const struct kvc_dido_pipeline *pipeline = work->pipeline;
    const bool steals = kvc_dido_steals(work->config, pipeline);
    struct kvc_dido_flow flow = {.stages = pipeline->stages,
                                 .channels = kvc_dram_channels(work->config->dram),
                                 .set_frac = (double)work->config->options->steal_set / work->queries};
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        const struct kvc_dido_stage *stage = &pipeline->stage[s];
        uint32_t stolen = steals ? kvc_dido_stealable(stage) : 0, rest = stage->tasks & ~stolen;
        const struct kvc_dido_flow_work whole =
            flow_work(work->config, pipeline, &work->whole[s], stage->tasks, stage->on_gpu, work->queries);
        const struct kvc_dido_flow_work taken =
            kvc_dido_flow_work_of(work->config, pipeline, stolen, !stage->on_gpu, work->mix, work->queries);
        const struct kvc_dido_flow_work left =
            stolen == 0 ? whole
                        : kvc_dido_flow_work_of(work->config, pipeline, rest, stage->on_gpu, work->mix,
                                                work->queries);
        flow.stage[s] = kvc_dido_flow_stage_of(stage, stolen != 0, &whole, &taken, &left);
    }
    struct kvc_dido_flow_result result = kvc_dido_flow_of(&flow);
    double stolen = 0;
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        period->served_ns[s] = result.stage_ns[s];
        period->busy_ns[s] = result.busy_ns[s];
        stolen += result.stolen[s] / pipeline->stages;
    }
    period->ns = result.period_ns;
    period->longest_ns = result.slowest_ns;
    period->link_ns = result.link_ns;
    period->stolen_frac = stolen;
}

struct kvc_dido_period kvc_dido_period_of(const struct kvc_dido_config *config,
                                          const struct kvc_dido_pipeline *pipeline,
                                          const struct kvc_dido_mix *mix, double queries)
{
    struct work work = {.config = config, .pipeline = pipeline, .mix = mix, .queries = queries};
    struct kvc_dido_period period = {0};
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        const struct kvc_dido_stage *stage = &pipeline->stage[s];
        struct kvc_dido_cost *whole = &work.whole[s];
        *whole = kvc_dido_cost_of(config, pipeline, stage->tasks, stage->on_gpu, mix, queries);
        period.stage_ns[s] = period.served_ns[s] = stage_ns(stage, whole);
        period.busy_ns[s] = period.stage_ns[s] - whole->launch_ns;
        period.memory_ns += whole->channel_ns / kvc_dram_channels(config->dram);
        period.link_ns += link_ns(whole);
        period.slowest = period.stage_ns[s] > period.stage_ns[period.slowest] ? s : period.slowest;
    }
    period.ns = fmax(period.stage_ns[period.slowest], period.memory_ns);
    period.longest_ns = period.ns;
    if (pipeline->stages > 1 && (kvc_dido_steals(config, pipeline) || contend(&work))) {
        let_flow(&work, &period);
    }
    return period;
}
