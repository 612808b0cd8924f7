#include "models/dido/search.h"

#include <math.h>
#include <stdlib.h>

#include "models/dido/plan.h"
#include "sim/base/array.h"
#include "sim/devices/gpu.h"

/* Sizes of batches are powers of two up to the largest. */
enum { SIZES = 17, KEYS = 4 << KVC_DIDO_TASKS, KEPT = 64 };

_Static_assert(1 << (SIZES - 1) == KVC_DIDO_BATCH_MAX, "the largest size is that of the largest batch");

/* What waves and sets that are not full may add to the work at one size, but not between two. Lines are in
 * proportion to the queries. */
static const double slack_frac = 0.01;

/* Work of some tasks on batches of all sizes, on one core or on the GPU. */
struct entry {
    bool known[SIZES];
    struct kvc_dido_flow_work work[SIZES];
};

struct kvc_dido_search {
    const struct kvc_dido_config *config;
    const struct kvc_dido_mix *mix;
    double held; /* Threads that the GPU holds at a time. */
    struct entry *entry[KEYS];
    uint32_t idle; /* Tasks that no query does. */
    uint32_t kept;
    struct kvc_dido_pipeline seen[KEPT]; /* Without idle tasks. */
};

struct kvc_dido_search *kvc_dido_search_open(const struct kvc_dido_config *config,
                                             const struct kvc_dido_mix *mix)
{
    struct kvc_dido_search *search = kvc_array_of(1, sizeof(*search));
    search->config = config;
    search->mix = mix;
    search->held = kvc_gpu_waves_held(config->gpu) * (double)config->gpu->wave_threads;
    for (int i = 0; i < KVC_DIDO_TASKS; i++) {
        enum kvc_dido_task task = (enum kvc_dido_task)i;
        search->idle |= kvc_dido_task_share(mix, task) > 0 ? 0 : kvc_dido_bit(task);
    }
    return search;
}

void kvc_dido_search_close(struct kvc_dido_search *search)
{
    for (uint32_t i = 0; search != NULL && i < KEYS; i++) {
        free(search->entry[i]);
    }
    free(search);
}

/* Returns the work of tasks on a batch of one of the sizes. */
static const struct kvc_dido_flow_work *work_at(struct kvc_dido_search *search,
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
            kvc_dido_flow_work_of(search->config, pipeline, tasks, on_gpu, search->mix, (double)(1 << size));
    }
    return &(*at)->work[size];
}

/* Returns a lower bound of the work of tasks on a batch. */
static struct kvc_dido_flow_work work_of(struct kvc_dido_search *search,
                                         const struct kvc_dido_pipeline *pipeline, uint32_t tasks,
                                         bool on_gpu, double queries)
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
                                       .channel_ns = fmax(small->channel_ns, frac * large->channel_ns)};
}

/* A batch of one query is as long as it is. */
bool kvc_dido_search_may_reach(struct kvc_dido_search *search, const struct kvc_dido_pipeline *pipeline,
                               double per_ns)
{
    const struct kvc_dido_config *config = search->config;
    double longest_ns = kvc_dido_plan_longest_ns(config, pipeline);
    double queries = fmin(fmax(per_ns * longest_ns, 1), KVC_DIDO_BATCH_MAX);
    struct kvc_dido_flow flow = {.stages = pipeline->stages, .channels = kvc_dram_channels(config->dram)};
    bool steals = kvc_dido_steals(config, pipeline);
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
        flow.stage[s] = kvc_dido_flow_stage_of(stage, stolen != 0, &whole, &taken, &rest);
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

/* An idle task matters where a stage has nothing else that can be stolen, or nothing else that is left: sets
 * are then taken for it. */
bool kvc_dido_search_is_new(struct kvc_dido_search *search, const struct kvc_dido_pipeline *pipeline)
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
