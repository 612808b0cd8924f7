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

static struct kvc_dido_cost cost_of(const struct work *work, uint32_t tasks, bool on_gpu)
{
    return kvc_dido_cost_of(work->config, work->pipeline, tasks, on_gpu, work->mix, work->queries);
}

/* Returns what tasks with this cost take of a processor for the whole batch, tags included. */
static struct kvc_dido_flow_work flow_work(const struct work *work, const struct kvc_dido_cost *cost,
                                           uint32_t tasks, bool on_gpu, double cores)
{
    bool steals = work->config->options->stealing && tasks != 0;
    double taking_ns = steals ? kvc_dido_taking_ns(work->config, on_gpu, work->queries) : 0;
    return (struct kvc_dido_flow_work){.launch_ns = cost->launch_ns,
                                       .alone_ns = (on_gpu ? cost->kernel_ns : cost->core_ns) / cores +
                                                   taking_ns / cores,
                                       .channel_ns = cost->channel_ns,
                                       .link_ns = link_ns(cost)};
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
static void flow(const struct work *work, struct kvc_dido_period *period)
{
    const struct kvc_dido_pipeline *pipeline = work->pipeline;
    const bool steals = work->config->options->stealing;
    struct kvc_dido_flow batches = {.stages = pipeline->stages,
                                    .channels = kvc_dram_channels(work->config->dram),
                                    .set_frac = (double)work->config->options->steal_set / work->queries};
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        const struct kvc_dido_stage *stage = &pipeline->stage[s];
        uint32_t stolen = steals ? kvc_dido_stealable(stage) : 0, rest = stage->tasks & ~stolen;
        struct kvc_dido_cost stolen_cost = cost_of(work, stolen, !stage->on_gpu);
        struct kvc_dido_cost rest_cost = cost_of(work, rest, stage->on_gpu);
        double cores = stage->on_gpu ? 1 : stage->cores;
        batches.stage[s] = (struct kvc_dido_flow_stage){
            .on_gpu = stage->on_gpu,
            .can_be_stolen = stolen != 0,
            .cores = cores,
            .whole = flow_work(work, &work->whole[s], stage->tasks, stage->on_gpu, cores),
            .stolen = flow_work(work, &stolen_cost, stolen, !stage->on_gpu, 1),
            .rest = flow_work(work, &rest_cost, rest, stage->on_gpu, cores),
        };
    }
    struct kvc_dido_flow_result result = kvc_dido_flow_of(&batches);
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
    bool on_gpu = false;
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        const struct kvc_dido_stage *stage = &pipeline->stage[s];
        struct kvc_dido_cost *whole = &work.whole[s];
        *whole = cost_of(&work, stage->tasks, stage->on_gpu);
        period.stage_ns[s] = period.served_ns[s] = stage_ns(stage, whole);
        period.busy_ns[s] = period.stage_ns[s] - whole->launch_ns;
        period.memory_ns += whole->channel_ns / kvc_dram_channels(config->dram);
        period.link_ns += link_ns(whole);
        period.slowest = period.stage_ns[s] > period.stage_ns[period.slowest] ? s : period.slowest;
        on_gpu = on_gpu || stage->on_gpu;
    }
    period.ns = fmax(period.stage_ns[period.slowest], period.memory_ns);
    period.longest_ns = period.ns;
    if (pipeline->stages > 1 && ((config->options->stealing && on_gpu) || contend(&work))) {
        flow(&work, &period);
    }
    return period;
}
