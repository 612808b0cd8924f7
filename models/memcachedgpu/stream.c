/* CUDA streams: each runs one batch at a time. */
#include <math.h>

#include "models/memcachedgpu/simulation.h"

/* Copies bytes over PCIe, and lets the host's memory know. A copy engine serves one stream at a time; its
 * latency is the caller's to add, because the engine already serves the next copy. */
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

static void run(struct kvc_memcachedgpu_server *server, struct kvc_memcachedgpu_job *job)
{
    struct kvc_memcachedgpu_simulation *simulation = server->simulation;
    const struct kvc_memcachedgpu_config *config = simulation->config;
    double latency_ns = config->gpu->launch_ns + config->pcie->latency_ns;
    if (config->receive == KVC_MEMCACHEDGPU_RECEIVE_HOST) {
        copy(server, KVC_MEMCACHEDGPU_COPY_IN, job->copied_bytes);
        latency_ns += config->pcie->latency_ns;
        if (config->feed == KVC_MEMCACHEDGPU_NETWORK) {
            kvc_memcachedgpu_release(server, kvc_engine_now_ns(), job->batch->count);
        }
    }
    /* The latencies, as a host sees them, include its calls. */
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
        kvc_gate_wait(server->launched.gate);
        struct kvc_memcachedgpu_job *job = kvc_memcachedgpu_pop(&server->launched);
        double started_ns = kvc_engine_now_ns();
        run(server, job);
        job->ended_ns = kvc_engine_now_ns();
        kvc_recorder_busy(&simulation->replica.recorder, KVC_MEMCACHEDGPU_GPU, started_ns, job->ended_ns);
        kvc_timeline_event(simulation->replica.context->timeline, server->number,
                           1 + simulation->config->post_threads + stream->number, "kernel", started_ns,
                           job->ended_ns - started_ns, job->batch->count);
        kvc_memcachedgpu_push(&server->posts[server->batches++ % simulation->config->post_threads].queue,
                              job);
    }
}
