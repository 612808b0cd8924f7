#include "models/composed/flow/stalls.h"

#include <math.h>

#include "sim/base/array.h"

static uint32_t cores_of(const struct kvc_composed_config *config)
{
    uint64_t threads = kvc_composed_threads(config, KVC_COMPOSED_CPU);
    return (uint32_t)(threads < config->cpu->cores ? threads : config->cpu->cores);
}

void kvc_composed_stalls_open(struct kvc_composed_server *server)
{
    const struct kvc_composed_config *config = server->config;
    uint32_t threads = (uint32_t)kvc_composed_threads(config, KVC_COMPOSED_CPU), first = 0;
    if (server->scenario->node.stall_count == 0) {
        return;
    }
    server->stalls = kvc_array_of(cores_of(config), sizeof(*server->stalls));
    for (uint32_t i = 0; i < cores_of(config); i++) {
        kvc_stalls_open(&server->stalls[i], &server->scenario->node, server->replica->context->seed,
                        (uint64_t)server->number << 32 | i);
    }
    /* A policy may move all cores of a pipeline to one of its stations. */
    server->free_ns = kvc_array_of((size_t)server->stations * threads, sizeof(*server->free_ns));
    for (uint32_t i = 0; i < server->stations; i++) {
        const struct kvc_composed_pool *pool = &config->pool[server->station[i].pool];
        server->station[i].free_ns = server->free_ns + (size_t)i * threads;
        server->station[i].first_thread = first;
        first += pool->place == KVC_COMPOSED_CPU ? pool->servers * pool->cores : 0;
    }
}

double kvc_composed_stalls_go_on(struct kvc_composed_server *server, const struct kvc_composed_job *job,
                                 double now_ns, double busy_ns)
{
    const struct kvc_composed_station *station = &server->station[job->station];
    const struct kvc_composed_pool *pool = &server->config->pool[station->pool];
    double late_ns = 0;
    if (server->stalls == NULL || pool->place != KVC_COMPOSED_CPU) {
        return 0;
    }
    const struct kvc_composed_job *whole = job->is_part ? server->job[job->whole] : job;
    double requests = fmax(whole->counts.requests, 1); /* Cores without any have nothing to do. */
    for (uint32_t i = 0; i < pool->cores && i < requests; i++) {
        uint32_t thread = station->first_thread + job->core * pool->cores + i;
        struct kvc_stalls *stalls = &server->stalls[thread % cores_of(server->config)];
        late_ns = fmax(late_ns, kvc_stalls_ns(stalls, now_ns, now_ns + busy_ns));
    }
    station->free_ns[job->core] = now_ns + busy_ns + late_ns;
    return late_ns;
}

double kvc_composed_stalls_begin(struct kvc_composed_server *server, struct kvc_composed_job *job,
                                 uint32_t stage, double now_ns, double busy_ns)
{
    const struct kvc_composed_station *station = &server->station[job->station];
    if (server->stalls == NULL || server->config->stage[stage].place != KVC_COMPOSED_CPU) {
        return 0;
    }
    job->core = 0;
    for (uint32_t i = 1; i < station->servers; i++) { /* The one that has been idle for longest. */
        job->core = station->free_ns[i] < station->free_ns[job->core] ? i : job->core;
    }
    return kvc_composed_stalls_go_on(server, job, now_ns, busy_ns);
}

double kvc_composed_stalls_sum_ns(const struct kvc_composed_server *server, uint32_t *cores)
{
    double sum_ns = 0;
    *cores = server->stalls != NULL ? cores_of(server->config) : 0;
    for (uint32_t i = 0; i < *cores; i++) {
        sum_ns += server->stalls[i].met_sum_ns;
    }
    return sum_ns;
}
