#include "models/composed/flow/front.h"

#include "models/composed/flow/prices.h"
#include "models/composed/flow/shared.h"
#include "models/composed/flow/stations.h"
#include "sim/base/array.h"
#include "sim/base/serve.h"

/* Whether the first stage has ports in which no frame waits for the stage behind them. */
static bool has_ports(const struct kvc_composed_server *server)
{
    const struct kvc_composed_config *config = server->config;
    const struct kvc_composed_fixed *first = &server->fixed[0], *next = &server->fixed[1];
    bool saturates = server->scenario->workload.arrival == KVC_ARRIVAL_SATURATE;
    /* Clients of a closed loop do not send in the order of time: those of other sockets come between. */
    bool closed = server->scenario->workload.arrival == KVC_ARRIVAL_CLOSED;
    bool has_room =
        (next->room == 0 && !closed) || next->drops || (saturates && next->room >= config->outstanding);
    return config->stages > 2 && config->stage[0].place == KVC_COMPOSED_NIC_RX &&
           config->stage[0].does == 0 && first->is_straight && first->room == 0 &&
           (config->batched == 1 ? first->turns : has_room);
}

/* Whether the second stage has cores of its own that only spend time on frames, and lose those for which
 * there is no batch. They neither stall nor fail. */
static bool has_cores(const struct kvc_composed_server *server)
{
    const struct kvc_composed_config *config = server->config;
    const struct kvc_composed_stage *stage = &config->stage[1];
    const struct kvc_composed_pool *pool = &config->pool[stage->pool];
    bool uses_memory = false;
    for (int i = 0; i < KVC_COMPOSED_PERS; i++) {
        uses_memory = uses_memory || stage->per[i].lines > 0 || stage->per[i].bytes > 0;
    }
    return stage->place == KVC_COMPOSED_CPU && stage->does == 0 && server->fixed[1].is_straight &&
           server->fixed[1].drops && config->batched == 2 && pool->stages == 1u << 1 && pool->cores == 1 &&
           !pool->steals && stage->options->burst == 1 && config->thread_cores >= 1 && !uses_memory &&
           server->stalls == NULL && server->scenario->run.change_count == 0;
}

void kvc_composed_front_open(struct kvc_composed_server *server)
{
    const struct kvc_composed_config *config = server->config;
    /* A policy sees all queues, and so do clients that follow the backlog. */
    bool is_seen = config->options->policy[0] != '\0' || server->follows;
    server->front = is_seen || !has_ports(server) ? 0 : 1 + (uint32_t)has_cores(server);
    for (uint32_t i = 0; i < server->front * config->pipelines; i++) {
        struct kvc_composed_station *station =
            kvc_composed_station_of(server, i / config->pipelines, i % config->pipelines);
        if (station->front_ns == NULL) {
            station->front_ns = kvc_array_of(station->servers, sizeof(*station->front_ns));
        }
    }
}

void kvc_composed_front_take(struct kvc_composed_server *server, uint32_t number, double arrives_ns)
{
    struct kvc_composed_job *job = server->job[number];
    double ends_ns = arrives_ns;
    job->ready_ns = arrives_ns;
    for (uint32_t i = 0; i < server->front; i++) {
        const struct kvc_composed_price *price = kvc_composed_price_of(server, i, job);
        const struct kvc_composed_station *station = kvc_composed_station_of(server, i, job->pipeline);
        double *free_ns = station->front_ns;
        for (uint32_t j = 1; j < station->servers; j++) {
            free_ns = station->front_ns[j] < *free_ns ? &station->front_ns[j] : free_ns;
        }
        if (i > 0) {
            kvc_composed_job_mark(job, ends_ns);
        }
        *free_ns = kvc_later_ns(*free_ns, ends_ns) + price->cost.busy_ns;
        ends_ns = *free_ns;
        job->latency_ns = price->cost.latency_ns;
    }
    kvc_events_append(&server->events, KVC_COMPOSED_LINKS, ends_ns, KVC_COMPOSED_RECEIVED,
                      (uint16_t)(server->front - 1), number);
}

double kvc_composed_front_leave(struct kvc_composed_server *server, struct kvc_composed_job *job,
                                uint32_t last, double now_ns)
{
    double wait_ns = 0, came_ns = job->ready_ns;
    for (uint32_t i = 0; i <= last; i++) {
        const struct kvc_composed_price *price = kvc_composed_price_of(server, i, job);
        double ended_ns = i < last ? job->mark_ns[job->marks - 1] : now_ns;
        wait_ns = kvc_later_ns(kvc_composed_take_shared(server, job, price, now_ns, 0), wait_ns);
        kvc_composed_count_messages(server, job, server->config->stage[i].place, i, price->cost.busy_ns,
                                    kvc_later_ns(ended_ns - price->cost.busy_ns - came_ns, 0));
        came_ns = ended_ns;
    }
    return wait_ns;
}
