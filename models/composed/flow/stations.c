#include "models/composed/flow/stations.h"

struct kvc_composed_station *kvc_composed_station_of(const struct kvc_composed_server *server, uint32_t stage,
                                                     uint32_t pipeline)
{
    const struct kvc_composed_config *config = server->config;
    const struct kvc_composed_pool *pool = &config->pool[config->stage[stage].pool];
    return &server->station[pool->first + (pool->of_node ? 0 : pipeline)];
}

bool kvc_composed_drops(const struct kvc_composed_server *server, uint32_t stage)
{
    const struct kvc_composed_config *config = server->config;
    const struct kvc_composed_stage_options *options = config->stage[stage].options;
    bool ring = options->queue == 0 && stage == 1 && config->stage[0].place == KVC_COMPOSED_NIC_RX;
    const struct kvc_workload *workload = &server->scenario->workload;
    return options->full == KVC_COMPOSED_REFUSE
               ? workload->arrival != KVC_ARRIVAL_SATURATE
               : (ring || options->full == KVC_COMPOSED_DROP) && !kvc_workload_clients_wait(workload);
}

uint64_t kvc_composed_waiting_for(const struct kvc_composed_server *server,
                                  const struct kvc_composed_station *station, uint32_t stage,
                                  uint32_t pipeline)
{
    bool shared = server->config->stage[stage].options->shared;
    uint32_t left = kvc_composed_drops(server, stage) && kvc_composed_turns(server->config, stage)
                        ? server->pipeline[pipeline].held.count
                        : 0;
    left += server->pipeline[pipeline].blocked[stage].count;
    return left + (shared ? server->shared[stage].count : kvc_composed_queued(station));
}

void kvc_composed_queue(struct kvc_composed_server *server, struct kvc_ring *queue, uint32_t number,
                        uint32_t stage)
{
    kvc_ring_push(queue, number, stage);
    server->traffic[stage].arrived++;
}

struct kvc_ring *kvc_composed_first_queue(struct kvc_composed_station *station)
{
    for (uint32_t i = KVC_COMPOSED_PRIORITIES; i-- > 0;) {
        if (station->queue[i].count > 0) {
            return &station->queue[i];
        }
    }
    return NULL;
}

struct kvc_composed_station *kvc_composed_victim(const struct kvc_composed_server *server,
                                                 const struct kvc_composed_station *station)
{
    const struct kvc_composed_config *config = server->config;
    uint32_t pipelines = config->pipelines,
             stage = (uint32_t)__builtin_ctz(config->pool[station->pool].stages);
    for (uint32_t i = 1; i < pipelines && config->pool[station->pool].steals; i++) {
        struct kvc_composed_station *other =
            kvc_composed_station_of(server, stage, (station->pipeline + i) % pipelines);
        struct kvc_ring *queue = kvc_composed_first_queue(other);
        if (queue != NULL && kvc_composed_steals(config->stage[kvc_ring_first(queue)->tag].options)) {
            return other;
        }
    }
    return NULL;
}

uint32_t kvc_composed_take_stream(struct kvc_composed_station *station)
{
    uint32_t word = station->free_streams[0] == 0;
    uint32_t bit = (uint32_t)__builtin_ctzll(station->free_streams[word]);
    station->free_streams[word] &= station->free_streams[word] - 1;
    return station->first_stream + 64 * word + bit;
}

bool kvc_composed_runs_before(const struct kvc_composed_server *server, uint32_t stage, uint32_t turn)
{
    uint32_t after = server->config->stage[stage].after;
    bool runs = false;
    for (uint32_t i = 0; i < server->streams && after != stage; i++) {
        runs = runs || (server->kernel[i].stage == after && server->kernel[i].turn < turn);
    }
    return runs;
}
