#include "models/dido/paper_model.h"

#include <math.h>

/* What the model knows of a processor. */
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

/* Slows the GPU's instructions down to those that the threads of PP can begin, which parse a frame each. */
static void parse_frames(const struct kvc_dido_config *config, double queries, struct processor *gpu)
{
    double frames = ceil(queries / config->frame_requests);
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

struct kvc_dido_period kvc_dido_paper_period(const struct kvc_dido_config *config,
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
        period.link_ns += fmax(cost.down_ns, cost.up_ns);
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
