#include "models/composed/state.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"

static void open_stations(struct kvc_composed_server *server)
{
    const struct kvc_composed_config *config = server->config;
    for (uint32_t i = 0; i < config->pools; i++) {
        server->stations += config->pool[i].of_node ? 1 : config->pipelines;
    }
    server->station = kvc_array_of(server->stations, sizeof(*server->station));
    uint32_t at = 0;
    for (uint32_t i = 0; i < config->pools; i++) {
        const struct kvc_composed_pool *pool = &config->pool[i];
        for (uint32_t p = 0; p < (pool->of_node ? 1 : config->pipelines); p++) {
            struct kvc_composed_station *station = &server->station[at++];
            station->pool = i;
            station->pipeline = p;
            station->servers = station->wanted = pool->servers;
            if (pool->place == KVC_COMPOSED_GPU) {
                station->first_stream = server->streams;
                server->streams += pool->servers;
                station->free_streams[0] =
                    pool->servers < 64 ? (UINT64_C(1) << pool->servers) - 1 : UINT64_MAX;
                station->free_streams[1] = pool->servers < 64    ? 0
                                           : pool->servers < 128 ? (UINT64_C(1) << (pool->servers - 64)) - 1
                                                                 : UINT64_MAX;
            }
        }
    }
    if (server->streams > 0) {
        server->gpu = kvc_gpu_streams_create(server->streams);
        server->kernel = kvc_array_of(server->streams, sizeof(*server->kernel));
        for (uint32_t i = 0; i < server->streams; i++) {
            server->kernel[i].stage = KVC_COMPOSED_STAGES_MAX;
        }
    }
}

void kvc_composed_state_open(struct kvc_composed_server *server, const struct kvc_scenario *scenario,
                             const struct kvc_composed_stores *stores, struct kvc_replica *replica,
                             uint32_t number, const struct kvc_composed_expected *expected)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    uint64_t seed = replica->context->seed;
    *server = (struct kvc_composed_server){.scenario = scenario,
                                           .config = config,
                                           .replica = replica,
                                           .source = replica->source,
                                           .number = number,
                                           .answer_bytes = -1,
                                           .pace = kvc_composed_pace_of(config)};
    kvc_composed_structures_open(&server->structures, config, stores, number, replica->source, expected,
                                 seed);
    const struct kvc_shard *shard = server->structures.shard;
    kvc_composed_storage_open(&server->storage, config, shard != NULL ? shard->log : NULL, &server->events,
                              seed, number);
    open_stations(server);
    server->price = kvc_array_of(config->stages * KVC_COMPOSED_PRICES, sizeof(*server->price));
    server->limits = (struct kvc_composed_limits){.count = config->batch_most,
                                                  .timeout_ns = config->options->batch.timeout_ns,
                                                  .every_ns = config->options->batch.every_ns};
    memcpy(server->route_frac, config->route_frac, sizeof(server->route_frac));
    kvc_rng_init(&server->routes, seed, "composed.routes", number);
    server->pipeline = kvc_array_of(config->pipelines, sizeof(*server->pipeline));
    for (uint32_t i = 0; i < config->pipelines; i++) {
        server->pipeline[i].free_buffers =
            ~UINT64_C(0) >> (KVC_COMPOSED_BUFFERS_MAX - config->options->batch.buffers);
    }
    bool hashes = config->options->spread == KVC_COMPOSED_BY_CONNECTION;
    if (config->on_network && config->pipelines > 1 && hashes) {
        struct kvc_rss_params rss = kvc_nic_rss_params(config->nic, config->pipelines);
        rss.clients = kvc_workload_flows(&scenario->workload);
        rss.connections = kvc_workload_connections(&scenario->workload);
        rss.server = number;
        rss.seed = seed;
        server->rss = kvc_rss_open(&rss, NULL); /* kvc_composed_check() has checked the queues. */
    }
    server->follows =
        scenario->workload.arrival == KVC_ARRIVAL_SATURATE && server->config->options->backlog > 0;
    server->sends_ahead = !kvc_workload_clients_wait(&scenario->workload) &&
                          !kvc_source_fills(server->source) && config->options->policy[0] == '\0';
    server->evicted = kvc_composed_job_create(1, kvc_workload_key_stride(&scenario->workload));
    uint32_t room = server->structures.rows_room;
    server->done_ns = kvc_array_of(room, sizeof(*server->done_ns));
    server->moves = kvc_array_of(room, sizeof(*server->moves));
}

void kvc_composed_state_close(struct kvc_composed_server *server)
{
    if (server->config == NULL) {
        return;
    }
    for (uint32_t i = 0; i < server->jobs; i++) {
        kvc_composed_job_free(server->job[i]);
    }
    kvc_composed_job_free(server->evicted);
    for (uint32_t i = 0; i < server->config->pipelines && server->pipeline != NULL; i++) {
        kvc_ring_free(&server->pipeline[i].held);
        for (uint32_t j = 0; j < KVC_COMPOSED_STAGES_MAX; j++) {
            kvc_composed_writes_free(&server->pipeline[i].later[j].writes);
            kvc_ring_free(&server->pipeline[i].blocked[j]);
        }
    }
    for (uint32_t i = 0; i < server->stations; i++) {
        for (uint32_t j = 0; j < KVC_COMPOSED_PRIORITIES; j++) {
            kvc_ring_free(&server->station[i].queue[j]);
        }
        kvc_ring_free(&server->station[i].held);
        free(server->station[i].front_ns);
    }
    for (uint32_t i = 0; i < KVC_COMPOSED_STAGES_MAX; i++) {
        kvc_ring_free(&server->shared[i]);
        kvc_ring_free(&server->after[i]);
    }
    kvc_composed_structures_close(&server->structures);
    kvc_composed_storage_close(&server->storage);
    kvc_events_free(&server->events);
    kvc_answers_free(&server->answers);
    kvc_gpu_streams_free(server->gpu);
    kvc_rss_close(server->rss);
    free(server->job);
    free(server->stalls);
    free(server->free_ns);
    free(server->phase);
    free(server->price);
    free(server->station);
    free(server->pipeline);
    free(server->kernel);
    free(server->done_ns);
    free(server->moves);
}

uint32_t kvc_composed_new_job(struct kvc_composed_server *server, bool batch)
{
    uint32_t *head = batch ? &server->free_batch : &server->free_frame, number;
    const struct kvc_composed_config *config = server->config;
    if (*head == 0) {
        server->job = kvc_array_grown(server->job, server->jobs + 1, sizeof(*server->job));
        server->job[server->jobs] =
            kvc_composed_job_create(batch ? config->batch_room : config->frame_most,
                                    kvc_workload_key_stride(&server->scenario->workload));
        server->job[server->jobs]->is_batch = batch;
        number = server->jobs++;
    } else {
        number = *head - 1;
        *head = server->job[number]->next;
    }
    struct kvc_composed_job *job = server->job[number];
    job->rows->count = job->kept_count = job->evicted_count = job->marks = job->answered = 0;
    job->knows_outcome = job->is_ghost = job->is_part = job->is_refused = job->is_apart = false;
    job->parts = job->port = 0;
    job->steal_ns = 0;
    return number;
}

void kvc_composed_free_job(struct kvc_composed_server *server, uint32_t number)
{
    uint32_t *head = server->job[number]->is_batch ? &server->free_batch : &server->free_frame;
    server->job[number]->next = *head;
    *head = number + 1;
}
