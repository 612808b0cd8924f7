/* The pre thread (GNoM-pre), which launches batches. */
#include "models/memcachedgpu/simulation.h"

/* Takes the driver's turn, if other threads call it, too. */
static void call_driver(struct kvc_memcachedgpu_server *server, double cpu_ns)
{
    if (server->driver != NULL) {
        kvc_gate_wait(server->driver);
    }
    kvc_engine_work(&(struct kvc_draw){(uint32_t)server->device.cpu, cpu_ns, cpu_ns}, 1);
    if (server->driver != NULL) {
        kvc_gate_post(server->driver);
    }
}

void kvc_memcachedgpu_launcher_main(void *data)
{
    struct kvc_memcachedgpu_server *server = data;
    struct kvc_memcachedgpu_simulation *simulation = server->simulation;
    for (;;) {
        kvc_gate_wait(server->streams_free);
        kvc_gate_post(server->wanted);
        kvc_gate_wait(server->full.gate);
        struct kvc_memcachedgpu_job *job = kvc_memcachedgpu_pop(&server->full);
        double started_ns = job->called_ns = kvc_engine_now_ns();
        call_driver(server, kvc_memcachedgpu_launch_cpu_ns(simulation->config, server->polling > 0));
        job->launched_ns = kvc_engine_now_ns();
        kvc_recorder_busy(&simulation->replica.recorder, KVC_MEMCACHEDGPU_LAUNCH, started_ns,
                          job->launched_ns);
        kvc_timeline_event(simulation->replica.context->timeline, server->number, 0, "launch", started_ns,
                           job->launched_ns - started_ns, job->batch->count);
        kvc_memcachedgpu_push(&server->launched, job);
    }
}
