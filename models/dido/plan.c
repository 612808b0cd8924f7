#include "models/dido/plan.h"

#include <math.h>
#include <string.h>
#include <stdlib.h>

#include "models/dido/flow.h"
#include "sim/base/array.h"
#include "sim/devices/gpu.h"
#include "sim/workload/phases.h"

/* ---- the period of a pipeline ---- */

/* The work of all stages on a batch. */
struct work {
    const struct kvc_dido_config *config;
    const struct kvc_dido_pipeline *pipeline;
    const struct kvc_dido_mix *mix;
    double queries;
    struct kvc_dido_cost whole[KVC_DIDO_STAGES_MAX]; /* Cost of each stage on its own processor. */
};

/* Returns the time of the busier direction of the link, or of the port of a stage on the CPU. */
static double link_ns(const struct kvc_dido_cost *cost)
{
    return fmax(cost->down_ns, cost->up_ns);
}

/* Returns the time of the work of a stage without its launches. */
static double work_ns(const struct kvc_dido_stage *stage, const struct kvc_dido_cost *cost)
{
    return stage->on_gpu ? cost->kernel_ns : fmax(cost->core_ns / stage->cores, link_ns(cost));
}

/* Returns whether the pipeline has thieves. */
static bool has_thieves(const struct kvc_dido_config *config, const struct kvc_dido_pipeline *pipeline)
{
    bool on_gpu = false;
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        on_gpu = on_gpu || pipeline->stage[s].on_gpu;
    }
    return config->options->stealing && on_gpu && pipeline->stages > 1;
}

/* Returns the work of tasks with this cost on one core or on the GPU for the whole batch. Taking sets costs
 * time only if there may be a thief. */
static struct kvc_dido_flow_work flow_work(const struct kvc_dido_config *config,
                                           const struct kvc_dido_pipeline *pipeline,
                                           const struct kvc_dido_cost *cost, uint32_t tasks, bool on_gpu,
                                           double queries)
{
    bool takes = tasks != 0 && has_thieves(config, pipeline);
    double taking_ns = takes ? kvc_dido_taking_ns(config, on_gpu, queries) : 0;
    return (struct kvc_dido_flow_work){.launch_ns = cost->launch_ns,
                                       .alone_ns = (on_gpu ? cost->kernel_ns : cost->core_ns) + taking_ns,
                                       .channel_ns = cost->channel_ns,
                                       .link_ns = on_gpu ? link_ns(cost) : 0,
                                       .wire_ns = on_gpu ? 0 : link_ns(cost)};
}

/* Returns the work of tasks on a batch, of one core or of the GPU, with the time of taking sets if there are
 * thieves. */
static struct kvc_dido_flow_work flow_work_of(const struct kvc_dido_config *config,
                                              const struct kvc_dido_pipeline *pipeline, uint32_t tasks,
                                              bool on_gpu, const struct kvc_dido_mix *mix, double queries)
{
    struct kvc_dido_cost cost = kvc_dido_cost_of(config, pipeline, tasks, on_gpu, mix, queries);
    return flow_work(config, pipeline, &cost, tasks, on_gpu, queries);
}

/* Returns the work of all cores of a stage, given the work of one. */
static struct kvc_dido_flow_work by_cores(const struct kvc_dido_flow_work *work, double cores)
{
    struct kvc_dido_flow_work divided = *work;
    divided.alone_ns = fmax(divided.alone_ns / cores, work->wire_ns);
    return divided;
}

/* Returns a stage of a flow with the work of all its tasks, of a thief, and of the rest that a thief leaves.
 */
static struct kvc_dido_flow_stage flow_stage_of(const struct kvc_dido_stage *stage, bool can_be_stolen,
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

/* Returns whether all stages working together exceed the memory's channels. */
static bool contend(const struct work *work)
{
    double wanted = 0;
    for (uint32_t s = 0; s < work->pipeline->stages; s++) {
        const struct kvc_dido_stage *stage = &work->pipeline->stage[s];
        const struct kvc_dido_cost *whole = &work->whole[s];
        double alone_ns = work_ns(stage, whole);
        wanted += alone_ns > 0 ? whole->channel_ns / alone_ns : 0;
    }
    return wanted > kvc_dram_channels(work->config->dram);
}

/* Lets the batches flow, with stealing or for the memory alone. */
static void let_flow(const struct work *work, double every_ns, struct kvc_dido_period *period)
{
    const struct kvc_dido_pipeline *pipeline = work->pipeline;
    const bool steals = has_thieves(work->config, pipeline);
    struct kvc_dido_flow flow = {.stages = pipeline->stages,
                                 .channels = kvc_dram_channels(work->config->dram),
                                 .every_ns = every_ns,
                                 .set_frac = (double)work->config->options->steal_set / work->queries};
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        const struct kvc_dido_stage *stage = &pipeline->stage[s];
        uint32_t stolen = steals ? kvc_dido_stealable(stage) : 0, rest = stage->tasks & ~stolen;
        const struct kvc_dido_flow_work whole =
            flow_work(work->config, pipeline, &work->whole[s], stage->tasks, stage->on_gpu, work->queries);
        const struct kvc_dido_flow_work taken =
            flow_work_of(work->config, pipeline, stolen, !stage->on_gpu, work->mix, work->queries);
        const struct kvc_dido_flow_work left =
            stolen == 0 ? whole
                        : flow_work_of(work->config, pipeline, rest, stage->on_gpu, work->mix, work->queries);
        flow.stage[s] = flow_stage_of(stage, stolen != 0, &whole, &taken, &left);
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
                                          const struct kvc_dido_mix *mix, double queries, double every_ns)
{
    struct work work = {.config = config, .pipeline = pipeline, .mix = mix, .queries = queries};
    struct kvc_dido_period period = {0};
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        const struct kvc_dido_stage *stage = &pipeline->stage[s];
        struct kvc_dido_cost *whole = &work.whole[s];
        *whole = kvc_dido_cost_of(config, pipeline, stage->tasks, stage->on_gpu, mix, queries);
        if (!stage->on_gpu && every_ns > 0) {
            whole->down_ns = 0; /* Its frames have come since the batch before began. */
        }
        period.stage_ns[s] = period.served_ns[s] = whole->launch_ns + work_ns(stage, whole);
        period.busy_ns[s] = period.stage_ns[s] - whole->launch_ns;
        period.memory_ns += whole->channel_ns / kvc_dram_channels(config->dram);
        period.link_ns += stage->on_gpu ? link_ns(whole) : 0;
        period.slowest = period.stage_ns[s] > period.stage_ns[period.slowest] ? s : period.slowest;
    }
    period.ns = fmax(period.stage_ns[period.slowest], period.memory_ns);
    period.longest_ns = period.ns;
    if (pipeline->stages > 1 && (has_thieves(config, pipeline) || contend(&work))) {
        let_flow(&work, every_ns, &period);
    }
    return period;
}

/* ---- the authors' cost model ---- */

/* The authors' cost model (DIDO, ICDE 2017, sec. IV), as the paper gives it.
 *
 *   T_F = N (I_F / IPC + N_M L_M + N_C L_C)                                  (1)
 *   T_A = sum of T_F over the stage's tasks, times mu                        (2)
 *   T_A with stealing, if the GPU is the slowest, B being the cores' tasks:
 *         T_B + T_A_CPU (T_A_GPU - T_B) / (T_A_CPU + T_A_GPU)                (3)
 *   S = N / T_max, with the largest N whose T_max is within the interval     (4)
 *
 * N_M is 1.5 for search and delete (two hash functions), what was counted for insert, and 1 for an item,
 * whose further lines are N_C. RD after KC in the same stage has no N_M. With a skewed popularity, a share P
 * of N_M turns into N_C: the share of the requests for the most popular items, which the cache holds. RV and
 * SD cost what was measured for them.
 *
 * Values that the paper leaves open come from the profile: IPC is the highest that the processor
 * reaches, L_M and L_C are the latencies of memory and last-level cache. On the GPU all threads it holds wait
 * at the same time, so an access counts its share of them. mu was measured by the authors with a program that
 * makes both processors access memory; here it is the time that the channels need for the accesses of all
 * stages over the longest stage, at least 1. PP's threads on the GPU parse a frame each (costs.h), which
 * begin fewer instructions than its peak. Launches of kernels are not in the model. */

/* A processor in the model. */
struct processor {
    double instruction_ns; /* 1 / IPC. */
    double memory_ns;      /* L_M. */
    double cache_ns;       /* L_C. */
};

static struct processor cpu_of(const struct kvc_dido_config *config, uint32_t cores)
{
    const struct kvc_cpu *cpu = config->cpu;
    return (struct processor){1e9 / (cpu->instructions_per_cycle * cpu->clock_hz) / cores,
                              kvc_dram_object_ns(config->dram, 1) / cores, kvc_cpu_llc_hit_ns(cpu) / cores};
}

static struct processor gpu_of(const struct kvc_dido_config *config)
{
    const struct kvc_gpu *gpu = config->gpu;
    double threads = (double)gpu->sms * (double)gpu->threads_per_sm;
    double issued = (double)gpu->sms * gpu->wave_issue * (double)gpu->wave_threads;
    double access_ns = (gpu->access_ns + config->link_ns) / threads;
    return (struct processor){1e9 / (issued * gpu->clocks[0].core_hz), access_ns, access_ns};
}

/* Sets the accesses of a query in a task to memory and to the cache. */
static void count_accesses(const struct kvc_dido_config *config, const struct kvc_dido_mix *mix,
                           uint32_t tasks, enum kvc_dido_task task, double *memory, double *cache)
{
    double lines = (mix->key_bytes + mix->value_bytes) / config->dram->line_bytes;
    *memory = *cache = 0;
    switch (task) {
    case KVC_DIDO_SEARCH:
    case KVC_DIDO_ERASE:
        *memory = 1.5;
        break;
    case KVC_DIDO_INSERT:
        *memory = mix->insert_lines > 0 ? mix->insert_lines
                                        : kvc_dido_work_of(task, KVC_OP_SET, (uint32_t)lround(mix->key_bytes),
                                                           (uint32_t)lround(mix->value_bytes), false)
                                              .random_lines;
        break;
    case KVC_DIDO_MM:
    case KVC_DIDO_KC:
        *memory = 1;
        *cache = task == KVC_DIDO_MM ? fmax(floor(lines - 1), 0) : 0;
        break;
    case KVC_DIDO_RD:
        *memory = (tasks & kvc_dido_bit(KVC_DIDO_KC)) != 0 ? 0 : 1;
        *cache = (tasks & kvc_dido_bit(KVC_DIDO_KC)) != 0 ? ceil(lines) : fmax(floor(lines - 1), 0);
        break;
    case KVC_DIDO_WR:
        *cache = ceil(lines);
        break;
    default:
        break;
    }
}

/* Returns the mean instructions of a query in a task. */
static double instructions_of(const struct kvc_dido_mix *mix, enum kvc_dido_task task, bool on_gpu)
{
    uint32_t key_bytes = (uint32_t)lround(mix->key_bytes), value_bytes = (uint32_t)lround(mix->value_bytes);
    bool sets = task == KVC_DIDO_MM || task == KVC_DIDO_INSERT;
    bool both = task == KVC_DIDO_PP || task == KVC_DIDO_WR;
    enum kvc_op op = sets ? KVC_OP_SET : task == KVC_DIDO_ERASE ? KVC_OP_DELETE : KVC_OP_GET;
    double usual = kvc_dido_work_of(task, op, key_bytes, value_bytes, on_gpu).instructions;
    double set = kvc_dido_work_of(task, KVC_OP_SET, key_bytes, value_bytes, on_gpu).instructions;
    return both ? mix->get_frac * usual + (1 - mix->get_frac) * set : usual;
}

/* Slows the GPU down to the instructions that the threads of PP, which parse a frame each, can issue. */
static void parse_frames(const struct kvc_dido_config *config, double queries, struct processor *gpu)
{
    double frames = ceil(queries / config->frame_mean);
    double begun_ns = config->gpu->wave_gap_cycles * 1e9 / config->gpu->clocks[0].core_hz;
    gpu->instruction_ns = fmax(gpu->instruction_ns, begun_ns / frames);
}

static double task_ns(const struct kvc_dido_config *config, const struct kvc_dido_mix *mix,
                      const struct kvc_dido_stage *stage, enum kvc_dido_task task, double queries)
{
    struct processor processor = stage->on_gpu ? gpu_of(config) : cpu_of(config, stage->cores);
    if (stage->on_gpu && task == KVC_DIDO_PP) {
        parse_frames(config, queries, &processor);
    }
    if (task == KVC_DIDO_RV || task == KVC_DIDO_SD) {
        struct kvc_dido_pipeline alone = {.stages = 1, .stage = {{.tasks = ~0u, .cores = 1}}};
        return kvc_dido_cost_of(config, &alone, kvc_dido_bit(task), false, mix, queries).core_ns /
               stage->cores;
    }
    double memory, cache;
    count_accesses(config, mix, stage->tasks, task, &memory, &cache);
    double popular = kvc_dido_is_index(task) || stage->on_gpu ? 0 : config->popular_frac;
    cache += popular * memory;
    memory *= 1 - popular;
    return queries * kvc_dido_task_share(mix, task) *
           (instructions_of(mix, task, stage->on_gpu) * processor.instruction_ns +
            memory * processor.memory_ns + cache * processor.cache_ns);
}

/* Returns the period by the authors' cost model. */
static struct kvc_dido_period paper_period(const struct kvc_dido_config *config,
                                           const struct kvc_dido_pipeline *pipeline,
                                           const struct kvc_dido_mix *mix, double queries)
{
    struct kvc_dido_period period = {0};
    double cores_ns = 0; /* T_B of equation 3: the slowest stage of the cores. */
    uint32_t gpu = pipeline->stages;
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        const struct kvc_dido_stage *stage = &pipeline->stage[s];
        for (int task = 0; task < KVC_DIDO_TASKS; task++) {
            if (kvc_dido_stage_has(stage, (enum kvc_dido_task)task)) {
                period.stage_ns[s] += task_ns(config, mix, stage, (enum kvc_dido_task)task, queries);
            }
        }
        struct kvc_dido_cost cost =
            kvc_dido_cost_of(config, pipeline, stage->tasks, stage->on_gpu, mix, queries);
        period.memory_ns += cost.channel_ns / kvc_dram_channels(config->dram);
        period.link_ns += stage->on_gpu ? link_ns(&cost) : 0;
        period.slowest = period.stage_ns[s] > period.stage_ns[period.slowest] ? s : period.slowest;
        gpu = stage->on_gpu ? s : gpu;
    }
    double mu = fmax(period.memory_ns / period.stage_ns[period.slowest], 1);
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        period.stage_ns[s] *= mu;
        cores_ns = s != gpu ? fmax(cores_ns, period.stage_ns[s]) : cores_ns;
        period.busy_ns[s] = period.served_ns[s] = period.stage_ns[s];
    }
    period.ns = period.stage_ns[period.slowest];
    if (config->options->stealing && period.slowest == gpu) {
        struct kvc_dido_stage on_cores = pipeline->stage[gpu];
        double gpu_ns = period.ns, helped_ns = 0;
        on_cores.on_gpu = false;
        on_cores.cores = (uint32_t)config->cpu->cores;
        for (int task = 0; task < KVC_DIDO_TASKS; task++) {
            if (kvc_dido_stage_has(&on_cores, (enum kvc_dido_task)task)) {
                helped_ns += mu * task_ns(config, mix, &on_cores, (enum kvc_dido_task)task, queries);
            }
        }
        period.ns = cores_ns + helped_ns * (gpu_ns - cores_ns) / (helped_ns + gpu_ns);
        period.stolen_frac = (period.ns - cores_ns) / helped_ns;
    }
    period.longest_ns = period.ns;
    return period;
}

/* ---- the size of batches ---- */

enum { STEPS = 12, PLANS_KEPT = 512 };

/* The search for the batch size ends when it changes by less than close_frac. A stage that exceeds the
 * interval by jump_frac has jumped over it. */
static const double close_frac = 1e-4, first_guess = 4096, jump_frac = 0.01;

/* Throughputs that differ by less count as equal: many pipelines have the same one if the memory is the
 * limit.
 */
static const double equal_frac = 1e-5;

/* Steps of the search for the highest limit of a pipeline, which starts at one query a second. */
static const double limit_step = 1.05, first_limit_per_ns = 1e-9;

/* Returns the longest time of a stage of a pipeline for a batch, unless the batch has one query [ns]. */
static double longest_allowed_ns(const struct kvc_dido_config *config,
                                 const struct kvc_dido_pipeline *pipeline)
{
    return (1 + jump_frac) * kvc_dido_interval_ns(config, pipeline);
}

static struct kvc_dido_period period_of(const struct kvc_dido_config *config,
                                        const struct kvc_dido_pipeline *pipeline,
                                        const struct kvc_dido_mix *mix, double queries)
{
    return config->options->predict == KVC_DIDO_BY_PAPER
               ? paper_period(config, pipeline, mix, queries)
               : kvc_dido_period_of(config, pipeline, mix, queries, 0);
}

/* The time of the slowest stage grows almost as a straight line over the batch, so the line through the last
 * two guesses leads to the interval in a few steps. With stealing it may jump, and even fall, at the size
 * from which a thief has time for a whole batch. A step out of the allowed range is then halved. */
struct kvc_dido_plan kvc_dido_plan_of(const struct kvc_dido_config *config,
                                      const struct kvc_dido_pipeline *pipeline,
                                      const struct kvc_dido_mix *mix)
{
    struct kvc_dido_plan plan = {.pipeline = *pipeline, .queries = first_guess};
    double interval_ns = kvc_dido_interval_ns(config, pipeline);
    double fits = 1, too_many = INFINITY; /* Queries. */
    double before = 1, before_ns = period_of(config, pipeline, mix, before).longest_ns;
    for (int i = 0; i < STEPS; i++) {
        double ns = period_of(config, pipeline, mix, plan.queries).longest_ns;
        double slope = (ns - before_ns) / (plan.queries - before);
        double next = slope > 0 ? plan.queries + (interval_ns - ns) / slope : INFINITY;
        if (ns <= interval_ns) {
            fits = plan.queries;
        } else {
            too_many = plan.queries;
        }
        if (next < fits || next > too_many) {
            next = (fits + too_many) / 2;
        }
        before = plan.queries;
        before_ns = ns;
        plan.queries = fmin(fmax(next, 1), KVC_DIDO_BATCH_MAX);
        if (fabs(plan.queries - before) < close_frac * before) {
            break;
        }
    }
    plan.period = period_of(config, pipeline, mix, plan.queries);
    if (plan.period.longest_ns > longest_allowed_ns(config, pipeline)) {
        plan.queries = fits;
        plan.period = period_of(config, pipeline, mix, plan.queries);
    }
    plan.per_ns = plan.queries / plan.period.ns;
    return plan;
}

/* ---- pipelines that are ruled out ---- */

/* Rules pipelines out before the closed form computes them: a search for the best one is part of DIDO's run.
 *
 * No pipeline is faster than its work allows (kvc_dido_flow_fits()). Whether a target is within that takes
 * the costs of its stages, which many pipelines have in common, and no batches that flow. Costs are computed
 * for some sizes of batches. Between two sizes, a cost is at least the cost of the
 * smaller one, and a cost per query at least the one of the larger size, because larger batches are cheaper
 * per query. The exceptions are the rounds of a GPU that does not hold all waves at once, and the last wave
 * and the last set, which are not full. */

/* Sizes of batches are powers of two up to the largest. */
enum { SIZES = 17, KEYS = 4 << KVC_DIDO_TASKS, KEPT = 64 };

_Static_assert(1 << (SIZES - 1) == KVC_DIDO_BATCH_MAX, "the largest size belongs to the largest batch");

/* Bound on the work that partial waves and sets may add at one size but not between two. Lines are in
 * proportion to the queries. */
static const double slack_frac = 0.01;

/* Work of some tasks on batches of all sizes, on one core or on the GPU. */
struct entry {
    bool known[SIZES];
    struct kvc_dido_flow_work work[SIZES];
};

struct search {
    const struct kvc_dido_config *config;
    const struct kvc_dido_mix *mix;
    double held; /* Threads that the GPU holds at a time. */
    struct entry *entry[KEYS];
    uint32_t idle; /* Tasks that no query uses. */
    uint32_t kept;
    struct kvc_dido_pipeline seen[KEPT]; /* Kept pipelines, without idle tasks. */
};

/* Begins a search among pipelines of a configuration under a load, which must outlive it. */
static struct search *search_open(const struct kvc_dido_config *config, const struct kvc_dido_mix *mix)
{
    struct search *search = kvc_array_of(1, sizeof(*search));
    search->config = config;
    search->mix = mix;
    search->held = kvc_gpu_waves_held(config->gpu) * (double)config->gpu->wave_threads;
    for (int i = 0; i < KVC_DIDO_TASKS; i++) {
        enum kvc_dido_task task = (enum kvc_dido_task)i;
        search->idle |= kvc_dido_task_share(mix, task) > 0 ? 0 : kvc_dido_bit(task);
    }
    return search;
}

/* Frees a search. NULL is allowed. */
static void search_close(struct search *search)
{
    for (uint32_t i = 0; search != NULL && i < KEYS; i++) {
        free(search->entry[i]);
    }
    free(search);
}

/* Returns the work of tasks on a batch of one of the sizes. */
static const struct kvc_dido_flow_work *work_at(struct search *search,
                                                const struct kvc_dido_pipeline *pipeline, uint32_t tasks,
                                                bool on_gpu, uint32_t size)
{
    bool apart = kvc_dido_stage_of(pipeline, KVC_DIDO_RD) != kvc_dido_stage_of(pipeline, KVC_DIDO_WR);
    struct entry **at = &search->entry[4 * tasks + 2 * on_gpu + apart];
    if (*at == NULL) {
        *at = kvc_array_of(1, sizeof(**at));
    }
    if (!(*at)->known[size]) {
        (*at)->known[size] = true;
        (*at)->work[size] =
            flow_work_of(search->config, pipeline, tasks, on_gpu, search->mix, (double)(1 << size));
    }
    return &(*at)->work[size];
}

/* Returns a lower bound of the work of tasks on a batch. */
static struct kvc_dido_flow_work work_of(struct search *search, const struct kvc_dido_pipeline *pipeline,
                                         uint32_t tasks, bool on_gpu, double queries)
{
    uint32_t size = (uint32_t)fmin(log2(queries), SIZES - 2);
    const struct kvc_dido_flow_work *small = work_at(search, pipeline, tasks, on_gpu, size);
    double larger = (double)(2 << size), frac = queries / larger;
    if (on_gpu && larger > search->held) {
        return *small;
    }
    const struct kvc_dido_flow_work *large = work_at(search, pipeline, tasks, on_gpu, size + 1);
    return (struct kvc_dido_flow_work){.launch_ns = small->launch_ns,
                                       .alone_ns =
                                           fmax(small->alone_ns, (1 - slack_frac) * frac * large->alone_ns),
                                       .channel_ns = fmax(small->channel_ns, frac * large->channel_ns),
                                       .wire_ns = frac * large->wire_ns};
}

/* Returns whether the work of a pipeline may allow more than per_ns queries per ns. A batch of one query has
 * no time limit. */
static bool search_may_reach(struct search *search, const struct kvc_dido_pipeline *pipeline, double per_ns)
{
    const struct kvc_dido_config *config = search->config;
    double longest_ns = longest_allowed_ns(config, pipeline);
    double queries = fmin(fmax(per_ns * longest_ns, 1), KVC_DIDO_BATCH_MAX);
    struct kvc_dido_flow flow = {.stages = pipeline->stages, .channels = kvc_dram_channels(config->dram)};
    bool steals = has_thieves(config, pipeline);
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        const struct kvc_dido_stage *stage = &pipeline->stage[s];
        uint32_t stolen = steals ? kvc_dido_stealable(stage) : 0;
        const struct kvc_dido_flow_work whole =
            work_of(search, pipeline, stage->tasks, stage->on_gpu, queries);
        struct kvc_dido_flow_work taken = {0}, rest = {0};
        if (stolen != 0) {
            taken = work_of(search, pipeline, stolen, !stage->on_gpu, queries);
        }
        if (stolen != 0 && stolen != stage->tasks) {
            rest = work_of(search, pipeline, stage->tasks & ~stolen, stage->on_gpu, queries);
        }
        flow.stage[s] = flow_stage_of(stage, stolen != 0, &whole, &taken, &rest);
    }
    return kvc_dido_flow_fits(&flow, queries / per_ns);
}

static bool is_same(const struct kvc_dido_pipeline *a, const struct kvc_dido_pipeline *b)
{
    bool same = a->stages == b->stages;
    for (uint32_t s = 0; same && s < a->stages; s++) {
        same = a->stage[s].on_gpu == b->stage[s].on_gpu && a->stage[s].cores == b->stage[s].cores &&
               a->stage[s].tasks == b->stage[s].tasks;
    }
    return same;
}

/* Returns whether the work of a pipeline differs from the kept pipelines of earlier calls. Idle tasks, such
 * as insert if all queries are GETs, may be in any stage. An idle task matters only if its stage has nothing
 * else that can be stolen, or nothing else left: sets are then taken for it. */
static bool search_is_new(struct search *search, const struct kvc_dido_pipeline *pipeline)
{
    const uint32_t can_be_stolen = kvc_dido_bit(KVC_DIDO_TASKS), has_rest = can_be_stolen << 1;
    struct kvc_dido_pipeline work = *pipeline;
    for (uint32_t s = 0; s < work.stages; s++) {
        uint32_t stolen = kvc_dido_stealable(&pipeline->stage[s]);
        work.stage[s].tasks &= ~search->idle;
        work.stage[s].tasks |= stolen != 0 ? can_be_stolen : 0;
        work.stage[s].tasks |= stolen != pipeline->stage[s].tasks ? has_rest : 0;
    }
    for (uint32_t i = 0; i < search->kept; i++) {
        if (is_same(&work, &search->seen[i])) {
            return false;
        }
    }
    if (search->kept < KEPT) {
        search->seen[search->kept++] = work;
    }
    return true;
}

/* ---- the best pipeline ---- */

struct candidates {
    const struct kvc_dido_config *config;
    const struct kvc_dido_mix *mix;
    struct search *search;              /* NULL: none is ruled out. */
    struct kvc_dido_pipeline promising; /* The pipeline with the highest limit. */
    double limit_per_ns;                /* Approximate limit of that pipeline. */
    double least_per_ns;                /* Throughput of a pipeline found so far. */
    struct kvc_dido_plan best;
    bool fits; /* The best plan's stages take a batch of one query within the interval. */
};

/* Keeps the pipeline whose work allows the highest throughput, and raises the limit to that throughput. */
static void promise(void *data, const struct kvc_dido_pipeline *pipeline)
{
    struct candidates *candidates = data;
    while (search_may_reach(candidates->search, pipeline, candidates->limit_per_ns * limit_step)) {
        candidates->limit_per_ns *= limit_step;
        candidates->promising = *pipeline;
    }
}

static void try(void *data, const struct kvc_dido_pipeline *pipeline)
{
    struct candidates *candidates = data;
    double more_per_ns = (1 + equal_frac) * candidates->best.per_ns;
    double least_per_ns = fmax((1 - 2 * equal_frac) * candidates->least_per_ns, more_per_ns);
    if (candidates->search != NULL && !(search_may_reach(candidates->search, pipeline, least_per_ns) &&
                                        search_is_new(candidates->search, pipeline))) {
        return;
    }
    struct kvc_dido_plan plan = kvc_dido_plan_of(candidates->config, pipeline, candidates->mix);
    if (plan.per_ns > more_per_ns || !candidates->fits) {
        bool fits = kvc_dido_period_of(candidates->config, pipeline, candidates->mix, 1, 0).longest_ns <=
                    kvc_dido_interval_ns(candidates->config, pipeline);
        bool better = fits == candidates->fits ? plan.per_ns > more_per_ns : fits;
        candidates->best = better ? plan : candidates->best;
        candidates->fits = candidates->fits || fits;
    }
}

static void visit(const struct kvc_dido_config *config, const struct kvc_dido_pipeline *said,
                  void (*visitor)(void *data, const struct kvc_dido_pipeline *pipeline),
                  struct candidates *candidates)
{
    uint32_t cores = (uint32_t)config->cpu->cores;
    if (said != NULL) {
        kvc_dido_pipeline_visit_cores(said, cores, visitor, candidates);
    } else {
        kvc_dido_pipeline_visit_all(cores, visitor, candidates);
    }
}

/* The authors' model may predict more than the work allows. It knows no launches, so it may also prefer a
 * pipeline that cannot keep the interval with any batch: that one counts only if there is no other. */
struct kvc_dido_plan kvc_dido_best_plan(const struct kvc_dido_config *config,
                                        const struct kvc_dido_pipeline *said, const struct kvc_dido_mix *mix)
{
    struct candidates candidates = {.config = config, .mix = mix, .limit_per_ns = first_limit_per_ns};
    if (config->options->predict == KVC_DIDO_BY_KVCAST) {
        candidates.search = search_open(config, mix);
        visit(config, said, promise, &candidates);
        if (candidates.promising.stages > 0) {
            candidates.least_per_ns = kvc_dido_plan_of(config, &candidates.promising, mix).per_ns;
        }
    }
    visit(config, said, try, &candidates);
    search_close(candidates.search);
    if (candidates.best.pipeline.stages == 0) {
        KVC_BUG("no pipeline of %u cores is a plan", (uint32_t)config->cpu->cores);
    }
    return candidates.best;
}

/* ---- the plan of a scenario ---- */

/* Returns whether a pipeline states its cores, so that there is nothing to choose. */
static bool states_cores(const struct kvc_dido_pipeline *pipeline)
{
    uint32_t stated = 0;
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        stated += pipeline->stage[s].cores;
    }
    return stated > 0;
}

/* Reads the pipeline, or plans it with the closed form, for the first phase if the load alternates. */
static enum kvc_status set_pipeline(struct kvc_dido_config *config, const struct kvc_workload *workload,
                                    struct kvc_diag *diag)
{
    const char *text = config->options->pipeline;
    const bool any = strcmp(text, "auto") == 0;
    config->plans = any;
    config->adapts = any && config->options->adapt;
    struct kvc_dido_pipeline *pipeline = &config->pipeline;
    enum kvc_status status = KVC_OK;
    if (!any) {
        bool megakv = strcmp(text, "megakv") == 0;
        status = kvc_dido_pipeline_parse(megakv ? kvc_dido_megakv_pipeline : text, pipeline, diag);
        if (status == KVC_OK) {
            status = kvc_dido_pipeline_check_cores(pipeline, (uint32_t)config->cpu->cores, diag);
        }
    }
    if (status == KVC_OK && (any || !states_cores(pipeline))) {
        struct kvc_dido_config first = *config;
        struct kvc_workload load = kvc_phases_workload(workload, 0);
        kvc_dido_set_phase(&first, workload, 0);
        struct kvc_dido_mix mix = kvc_dido_mix_of(&first, &load);
        *pipeline = kvc_dido_best_plan(&first, any ? NULL : pipeline, &mix).pipeline;
    }
    return status;
}

enum kvc_status kvc_dido_resolve(const struct kvc_scenario *scenario, void *config, struct kvc_diag *diag)
{
    enum kvc_status status = kvc_dido_config_open(config, scenario, diag);
    return status == KVC_OK ? set_pipeline(config, &scenario->workload, diag) : status;
}

/* ---- plans that a thread keeps ---- */

/* All that a plan of the configured pipeline depends on: the configuration without its addresses, what they
 * point to, and the mix. The way of a message does not matter to it, and many points of a sweep differ in
 * nothing else. */
struct inputs {
    struct kvc_dido_mix mix;
    struct kvc_dido_config config;
    struct kvc_dido_options options;
    struct kvc_dram dram;
    struct kvc_gpu gpu;
    struct kvc_nic nic;
    struct kvc_pcie pcie;
};

struct kept_plan {
    uint64_t hash;
    struct inputs inputs;
    double one_ns; /* Time of a batch of one query in the slowest stage [ns]. */
    bool is_planned;
    struct kvc_dido_plan plan;
};

/* Copies byte by byte, as inputs are compared. NULL leaves zeros. */
static void copy(void *to, const void *from, size_t bytes)
{
    if (from != NULL) {
        memcpy(to, from, bytes);
    }
}

static void set_inputs(struct inputs *inputs, const struct kvc_dido_config *config,
                       const struct kvc_dido_mix *mix)
{
    memset(inputs, 0, sizeof(*inputs));
    copy(&inputs->mix, mix, sizeof(*mix));
    copy(&inputs->config, config, sizeof(*config));
    copy(&inputs->options, config->options, sizeof(*config->options));
    copy(&inputs->dram, config->dram, sizeof(*config->dram));
    copy(&inputs->gpu, config->gpu, sizeof(*config->gpu));
    copy(&inputs->nic, config->nic, sizeof(*config->nic));
    copy(&inputs->pcie, config->pcie, sizeof(*config->pcie));
    inputs->config.options = NULL;
    inputs->config.cpu = NULL;
    inputs->config.dram = NULL;
    inputs->config.gpu = NULL;
    inputs->config.nic = NULL;
    inputs->config.pcie = NULL;
    inputs->config.path_ns = 0;
    inputs->nic.latency_ns = 0;
}

static uint64_t hash_of(const struct inputs *inputs)
{
    uint64_t hash = 0, word;
    for (size_t i = 0; i + sizeof(word) <= sizeof(*inputs); i += sizeof(word)) {
        memcpy(&word, (const char *)inputs + i, sizeof(word));
        hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 32;
    }
    return hash;
}

/* Returns what is kept of these inputs, or a new entry that has the time of one query, in the place of the
 * oldest one. */
static struct kept_plan *kept_plan_of(const struct kvc_dido_config *config, const struct kvc_dido_mix *mix)
{
    static _Thread_local struct kept_plan *kept;
    static _Thread_local uint32_t count, next;
    struct inputs inputs;
    set_inputs(&inputs, config, mix);
    uint64_t hash = hash_of(&inputs);
    for (uint32_t i = 0; i < count; i++) {
        if (kept[i].hash == hash && memcmp(&kept[i].inputs, &inputs, sizeof(inputs)) == 0) {
            return &kept[i];
        }
    }
    if (kept == NULL) {
        kept = kvc_array_of(PLANS_KEPT, sizeof(*kept));
    }
    struct kept_plan *plan = &kept[next];
    next = (next + 1) % PLANS_KEPT;
    count += count < PLANS_KEPT;
    plan->hash = hash;
    plan->inputs = inputs;
    plan->one_ns = kvc_dido_period_of(config, &config->pipeline, mix, 1, 0).longest_ns;
    plan->is_planned = false;
    return plan;
}

const struct kvc_dido_plan *kvc_dido_configured_plan(const struct kvc_dido_config *config,
                                                     const struct kvc_dido_mix *mix)
{
    struct kept_plan *kept = kept_plan_of(config, mix);
    if (!kept->is_planned) {
        kept->plan = kvc_dido_plan_of(config, &config->pipeline, mix);
        kept->is_planned = true;
    }
    return &kept->plan;
}

/* Checks that a batch of one query meets the latency limit. */
static enum kvc_status check_interval(const struct kvc_scenario *scenario, uint32_t phase,
                                      struct kvc_diag *diag)
{
    struct kvc_dido_config config = kvc_dido_config_of_phase(scenario, phase);
    struct kvc_workload load = kvc_phases_workload(&scenario->workload, phase);
    struct kvc_dido_mix mix = kvc_dido_mix_of(&config, &load);
    double one_ns = kept_plan_of(&config, &mix)->one_ns;
    double interval_ns = kvc_dido_interval_ns(&config, &config.pipeline);
    return one_ns <= interval_ns
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                               "system.%s: found %.4g us for a stage, a batch of one query takes %.4g us",
                               config.options->interval_ns > 0 ? "interval" : "latency_limit",
                               interval_ns * 1e-3, one_ns * 1e-3);
}

enum kvc_status kvc_dido_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_dido_config *config = kvc_dido_config_of(scenario);
    enum kvc_status status = kvc_dido_config_check(config, &scenario->workload, diag);
    if (status != KVC_OK) {
        return status;
    }
    for (uint32_t i = 0; status == KVC_OK && i < kvc_phases_count(&scenario->workload); i++) {
        status = check_interval(scenario, i, diag);
    }
    if (status != KVC_OK) {
        return status;
    }
    if (scenario->cluster.nodes > 1) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "cluster.nodes: found %llu, allowed with dido: 1",
                             (unsigned long long)scenario->cluster.nodes);
    }
    return KVC_OK;
}
