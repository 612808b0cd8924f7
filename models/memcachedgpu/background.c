/* Another task on the same GPU, and what it does to the response times. */
#include <math.h>

#include "models/memcachedgpu/simulation.h"

void kvc_memcachedgpu_watch_add(struct kvc_memcachedgpu_watch *watch, const double *sent_ns,
                                const double *done_ns, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        watch->sum_ns += done_ns[i] - sent_ns[i];
        if (++watch->count < KVC_MEMCACHEDGPU_WATCH_GETS) {
            continue;
        }
        double mean_ns = watch->sum_ns / watch->count;
        watch->sum_ns = 0;
        watch->count = 0;
        if (isnan(watch->started_ns)) {
            watch->before_sum_ns += mean_ns;
            watch->before_count++;
        } else {
            watch->most_ns = fmax(watch->most_ns, mean_ns);
            if (mean_ns * watch->before_count > 2 * watch->before_sum_ns) {
                watch->disturbed_ns = done_ns[i];
            }
        }
    }
}

/* Returns when the task starts [ns]; it is known once the measured time has begun. */
static double wait_for_start(const struct kvc_memcachedgpu_simulation *simulation)
{
    const struct kvc_recorder *recorder = &simulation->replica.recorder;
    while (!isfinite(recorder->from_ns)) {
        kvc_engine_sleep_until_ns(kvc_engine_now_ns() + recorder->window_ns);
    }
    return recorder->from_ns + simulation->config->options->background_start_ns;
}

/* The task launches its kernels one after the other, each when the one before has ended. */
void kvc_memcachedgpu_background_main(void *data)
{
    struct kvc_memcachedgpu_server *server = data;
    struct kvc_memcachedgpu_simulation *simulation = server->simulation;
    const struct kvc_memcachedgpu_config *config = simulation->config;
    const struct kvc_memcachedgpu_options *options = config->options;
    struct kvc_memcachedgpu_watch *watch = &simulation->watch;
    uint32_t kernels = (uint32_t)options->background_kernels, blocks = (uint32_t)options->background_blocks;
    kvc_engine_sleep_until_ns(wait_for_start(simulation));
    watch->started_ns = kvc_engine_now_ns();
    for (uint32_t i = 0; i < kernels; i++) {
        uint32_t part = blocks / kernels + (i < blocks % kernels);
        struct kvc_gpu_grid grid = kvc_memcachedgpu_background_grid(config, part);
        double launched_ns = kvc_engine_now_ns();
        kvc_engine_sleep_until_ns(launched_ns + config->gpu->launch_ns);
        kvc_gpu_blocks_run(server->blocks, &grid);
        kvc_timeline_event(simulation->replica.context->timeline, server->number,
                           1 + config->post_threads + config->streams, "background", launched_ns,
                           kvc_engine_now_ns() - launched_ns, part);
    }
    watch->ended_ns = kvc_engine_now_ns();
}
