/* CUDA streams: each runs one batch at a time, from its launch until it is answered. */
#include <math.h>

#include "models/memcachedgpu/simulation.h"

/* ---- pre thread ---- */

/* The pre thread (GNoM-pre), which launches batches. */

void kvc_memcachedgpu_call_driver(struct kvc_memcachedgpu_server *server, double cpu_ns)
{
    if (server->driver != NULL) {
        kvc_gate_wait(server->driver);
    }
    if (cpu_ns > 0) {
        kvc_engine_work(&(struct kvc_draw){(uint32_t)server->device.cpu, cpu_ns, cpu_ns}, 1);
    }
    if (server->driver != NULL) {
        kvc_gate_post(server->driver);
    }
}

/* Waits for a batch and for the pre thread, which launches it. A client that saturates the server from its
 * memory fills a batch when the pre thread is free for it. */
static struct kvc_memcachedgpu_job *launch(struct kvc_memcachedgpu_server *server)
{
    struct kvc_memcachedgpu_simulation *simulation = server->simulation;
    bool paced = kvc_memcachedgpu_is_paced(server);
    if (paced) {
        kvc_gate_wait(server->pre);
        kvc_gate_post(server->wanted);
    }
    kvc_gate_wait(server->full.gate);
    struct kvc_memcachedgpu_job *job = kvc_memcachedgpu_pop(&server->full);
    if (!paced) {
        kvc_gate_wait(server->pre);
    }
    job->called_ns = kvc_engine_now_ns();
    kvc_memcachedgpu_call_driver(
        server, kvc_memcachedgpu_launch_cpu_ns(simulation->config, server->polling > 0, job->copied_bytes));
    job->launched_ns = kvc_engine_now_ns();
    kvc_gate_post(server->pre);
    kvc_recorder_busy(&simulation->replica.recorder, KVC_MEMCACHEDGPU_LAUNCH, job->called_ns,
                      job->launched_ns);
    kvc_timeline_event(simulation->replica.context->timeline, server->number, 0, "launch", job->called_ns,
                       job->launched_ns - job->called_ns, job->batch->count);
    return job;
}

/* ---- copies ---- */

/* Copies bytes over PCIe, which also loads the host's memory. A copy engine serves one stream at a time. The
 * caller adds the latency, because the engine already serves the next copy meanwhile. */
static void copy(struct kvc_memcachedgpu_server *server, enum kvc_memcachedgpu_stage direction, double bytes)
{
    const struct kvc_memcachedgpu_config *config = server->simulation->config;
    uint32_t dram = (uint32_t)server->device.dram, card = (uint32_t)server->device.copy;
    bool in = direction == KVC_MEMCACHEDGPU_COPY_IN;
    struct kvc_gate *engine = in ? server->copy_in : server->copy_out;
    const struct kvc_dram_load load = {.streamed_bytes = bytes};
    kvc_gate_wait(engine);
    double started_ns = kvc_engine_now_ns();
    kvc_engine_transfer(in ? dram : card, in ? card : dram, bytes);
    kvc_recorder_busy(&server->simulation->replica.recorder, direction, started_ns, kvc_engine_now_ns());
    kvc_gate_post(engine);
    kvc_memcachedgpu_take(&server->copying, kvc_dram_channel_ns(config->dram, &load),
                          in ? kvc_pcie_h2d_ns(config->pcie, bytes) : kvc_pcie_d2h_ns(config->pcie, bytes));
}

/* ---- other task ---- */

/* Another task on the same GPU, and its effect on response times. */

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

/* Copies a vector of the task, as a driver that holds its lock while it moves memory that is not pinned. */
static void copy_vector(struct kvc_memcachedgpu_server *server)
{
    const struct kvc_memcachedgpu_config *config = server->simulation->config;
    double bytes = config->options->background_copy_bytes;
    kvc_gate_wait(server->driver);
    kvc_engine_sleep_until_ns(kvc_engine_now_ns() + kvc_memcachedgpu_staged_ns(config, bytes));
    copy(server, KVC_MEMCACHEDGPU_COPY_IN, bytes);
    kvc_gate_post(server->driver);
}

/* The task launches each kernel when the one before has ended. */
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
    for (int i = 0; i < 2 && options->background_copy_bytes > 0; i++) {
        copy_vector(server);
    }
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

/* ---- stream ---- */

static void run(struct kvc_memcachedgpu_server *server, struct kvc_memcachedgpu_job *job)
{
    struct kvc_memcachedgpu_simulation *simulation = server->simulation;
    const struct kvc_memcachedgpu_config *config = simulation->config;
    double latency_ns =
        config->gpu->launch_ns + kvc_memcachedgpu_latencies(config) * config->pcie->latency_ns;
    if (config->receive == KVC_MEMCACHEDGPU_RECEIVE_HOST) {
        copy(server, KVC_MEMCACHEDGPU_COPY_IN, job->copied_bytes);
        if (config->feed == KVC_MEMCACHEDGPU_NETWORK) {
            kvc_memcachedgpu_release(server, kvc_engine_now_ns(), job->batch->count);
        }
    }
    /* The latencies are measured on the host, so they include its calls. */
    kvc_engine_sleep_until_ns(fmax(job->called_ns + latency_ns, kvc_engine_now_ns()));
    double started_ns = kvc_engine_now_ns();
    kvc_memcachedgpu_wait_for_lock(server, job->batch);
    kvc_memcachedgpu_execute(server, job);
    uint32_t clock = kvc_engine_pstate((uint32_t)server->device.gpu);
    struct kvc_gpu_grid grid =
        kvc_memcachedgpu_get_grid(config, clock, job->batch->count, job->key_bytes_max, job->sectors);
    kvc_gpu_blocks_run(server->blocks, &grid);
    double kernel_ns = kvc_engine_now_ns() - started_ns;
    copy(server, KVC_MEMCACHEDGPU_COPY_OUT, job->returned_bytes);
    if (kvc_engine_now_ns() >= simulation->replica.recorder.from_ns) {
        simulation->kernel_sum_ns += kernel_ns;
        simulation->kernels++;
        simulation->kernel_packets += job->batch->count;
    }
}

void kvc_memcachedgpu_stream_main(void *data)
{
    const struct kvc_memcachedgpu_thread *stream = data;
    struct kvc_memcachedgpu_server *server = stream->server;
    struct kvc_memcachedgpu_simulation *simulation = server->simulation;
    for (;;) {
        struct kvc_memcachedgpu_job *job = launch(server);
        double started_ns = kvc_engine_now_ns();
        run(server, job);
        job->ended_ns = kvc_engine_now_ns();
        server->in_hand_ns += job->ended_ns - job->launched_ns;
        kvc_recorder_busy(&simulation->replica.recorder, KVC_MEMCACHEDGPU_GPU, started_ns, job->ended_ns);
        kvc_timeline_event(simulation->replica.context->timeline, server->number,
                           1 + simulation->config->post_threads + stream->number, "kernel", started_ns,
                           job->ended_ns - started_ns, job->batch->count);
        kvc_memcachedgpu_answer(&server->posts[server->batches++ % simulation->config->post_threads], job);
    }
}
