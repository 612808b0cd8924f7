#include "models/composed/flow/frames.h"

#include <math.h>

#include "models/composed/flow/front.h"
#include "models/composed/flow/stations.h"
#include "sim/base/clock.h"
#include "sim/base/serve.h"

enum {
    TIMED = 16, /* Frames of which one is timed. */
    AHEAD = 16, /* Times whose frames are taken together, if nothing that happens changes them. */
};

/* Returns the pipeline of a frame, whose requests have come from a connection. */
static uint32_t pipeline_of(struct kvc_composed_server *server, const struct kvc_batch *rows)
{
    const struct kvc_composed_config *config = server->config;
    bool saturates = server->scenario->workload.arrival == KVC_ARRIVAL_SATURATE;
    if (config->options->spread == KVC_COMPOSED_BY_KEY) {
        return (uint32_t)((rows->hash[0] >> 32) * config->pipelines >> 32);
    }
    if (server->rss != NULL && !saturates) {
        return kvc_rss_queue(server->rss, rows->connection);
    }
    server->turn = server->turn + 1 < config->pipelines ? server->turn + 1 : 0;
    return server->turn;
}

/* Draws the routes of a frame's requests. */
static void choose_routes(struct kvc_composed_server *server, struct kvc_composed_job *job)
{
    for (uint32_t i = 0; i < job->rows->count && server->config->routes > 1; i++) {
        double left = kvc_rng_unit(&server->routes);
        uint32_t route = 0;
        while (route + 1 < server->config->routes && left >= server->route_frac[route]) {
            left -= server->route_frac[route++];
        }
        job->route[i] = (uint8_t)route;
    }
}

/* Takes the next frame that leaves its client by until_ns; saturating clients send it at now_ns. Returns
 * whether there was one. */
static bool send_frame(struct kvc_composed_server *server, double now_ns, double until_ns)
{
    const struct kvc_composed_config *config = server->config;
    bool saturates = server->scenario->workload.arrival == KVC_ARRIVAL_SATURATE;
    bool timed = server->offers++ % TIMED == 0; /* Reading the clock takes as long as a frame. */
    uint64_t started = timed ? kvc_clock_ticks() : 0;
    uint32_t number = kvc_composed_new_job(server, false);
    struct kvc_composed_job *job = server->job[number];
    struct kvc_batch *rows = job->rows;
    uint32_t count =
        kvc_source_drain(server->source, server->number,
                         saturates ? now_ns + server->stopped_ns : until_ns + server->stopped_ns, rows);
    server->replica->source_ticks += timed ? TIMED * (kvc_clock_ticks() - started) : 0;
    if (count == 0) {
        kvc_composed_free_job(server, number);
        return false;
    }
    /* Clients that look at the port have sent the frame so early that it comes now. */
    double sent_ns = now_ns + server->stopped_ns - (server->follows ? config->path_ns : 0);
    for (uint32_t i = 0; i < count; i++) {
        rows->sent_ns[i] = saturates ? sent_ns : rows->sent_ns[i];
        job->outcome[i] = rows->op[i] == KVC_OP_GET ? KVC_COMPOSED_HIT : KVC_COMPOSED_DONE;
        job->location[i] = KVC_LOCATION_NONE;
        job->hot[i] = job->route[i] = 0;
    }
    choose_routes(server, job);
    kvc_answers_offer(&server->answers, rows->sent_ns, count);
    kvc_composed_structures_keep(&server->structures, job, 0);
    kvc_composed_structures_expect(&server->structures, job);
    kvc_composed_job_count(job, config);
    job->pipeline = pipeline_of(server, rows);
    server->in_flight += count;
    double left_ns = isnan(rows->left_ns) || saturates ? sent_ns : rows->left_ns;
    double arrives_ns = left_ns + config->path_ns - server->stopped_ns;
    kvc_composed_job_mark(job, arrives_ns);
    if (server->front > 0) {
        kvc_composed_front_take(server, number, kvc_later_ns(arrives_ns, now_ns));
    } else {
        kvc_events_append(&server->events, KVC_COMPOSED_ARRIVALS, kvc_later_ns(arrives_ns, now_ns),
                          KVC_COMPOSED_ARRIVES, 0, number);
    }
    return true;
}

void kvc_composed_send_frames(struct kvc_composed_server *server, double now_ns)
{
    const struct kvc_composed_config *config = server->config;
    if (server->scenario->workload.arrival != KVC_ARRIVAL_SATURATE || server->follows) {
        return;
    }
    while (server->in_flight + config->frame_requests <= config->outstanding &&
           send_frame(server, now_ns, INFINITY)) {
        ;
    }
}

/* Whether clients that follow a pipeline may send it a frame: a port is idle, and fewer frames wait than they
 * let wait. */
static bool wants(const struct kvc_composed_server *server, uint32_t pipeline)
{
    const struct kvc_composed_config *config = server->config;
    uint32_t first = kvc_composed_first_behind_ports(config);
    const struct kvc_composed_station *port = kvc_composed_station_of(server, 0, pipeline),
                                      *station = kvc_composed_station_of(server, first, pipeline);
    uint64_t waiting = station->held.count +
                       (server->fixed[first].is_shared ? server->shared[first].count : station->queued);
    waiting += server->pipeline[pipeline].blocked[first].count;
    waiting += first == config->batched ? server->pipeline[pipeline].held.count : 0;
    bool is_idle = first == 0 || (port->queued == 0 && port->busy < port->servers);
    return is_idle && waiting < config->options->backlog &&
           server->in_flight + config->frame_requests <= config->outstanding;
}

void kvc_composed_follow(struct kvc_composed_server *server, double now_ns)
{
    uint32_t pipelines = server->config->pipelines;
    for (uint32_t i = 0; i < pipelines && server->follows && !server->is_coming; i++) {
        uint32_t next = server->turn + 1 < pipelines ? server->turn + 1 : 0;
        if (wants(server, next)) {
            server->is_coming = send_frame(server, now_ns, INFINITY);
            return;
        }
        server->turn = next;
    }
}

void kvc_composed_send_next(struct kvc_composed_server *server, double now_ns)
{
    if (server->scenario->workload.arrival == KVC_ARRIVAL_SATURATE) {
        return;
    }
    double leaves_ns = kvc_source_next_ns(server->source, server->number), late_ns;
    double next_ns = leaves_ns - server->stopped_ns;
    while ((late_ns = leaves_ns - (next_ns + server->stopped_ns)) > 0) { /* Rounding made it too early. */
        next_ns += late_ns;
    }
    next_ns = kvc_later_ns(next_ns, now_ns);
    if (next_ns < server->sends_ns && next_ns <= server->until_ns) {
        server->sends_ns = next_ns;
    }
}

void kvc_composed_take_frames(struct kvc_composed_server *server, double now_ns)
{
    uint32_t times = server->sends_ahead ? AHEAD : 1;
    do {
        send_frame(server, now_ns, now_ns);
        server->sends_ns = INFINITY;
        kvc_composed_send_next(server, now_ns);
        times -= server->sends_ns > now_ns;
        now_ns = server->sends_ns;
    } while (times > 0 && now_ns <= server->until_ns);
    kvc_composed_structures_fetch(&server->structures);
}
