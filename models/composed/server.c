#include "models/composed/server.h"

#include <math.h>
#include <string.h>

#include "models/composed/answers.h"
#include "models/composed/flow/frames.h"
#include "models/composed/flow/front.h"
#include "models/composed/flow/later.h"
#include "models/composed/flow/outages.h"
#include "models/composed/flow/phases.h"
#include "models/composed/flow/policy.h"
#include "models/composed/flow/prices.h"
#include "models/composed/flow/shared.h"
#include "models/composed/flow/stalls.h"
#include "models/composed/flow/stations.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/serve.h"

enum { NO_STATION = INT32_MAX };

static struct kvc_composed_job *job_of(const struct kvc_composed_server *server, uint32_t number)
{
    return server->job[number];
}

/* ---- answers ---- */

static void end_batch(struct kvc_composed_server *server, uint32_t pipeline, uint8_t buffer, double now_ns);
static void close_idle(struct kvc_composed_server *server, uint32_t pipeline, double now_ns);

/* Answers a job, see models/composed/answers.h, and frees it. */
static void answer(struct kvc_composed_server *server, uint32_t number, double began_ns, double ended_ns,
                   double before_ns, double after_ns)
{
    struct kvc_composed_job *job = job_of(server, number);
    uint32_t pipeline = job->pipeline;
    bool of_batch = job->is_batch || job->is_apart;
    uint8_t buffer = job->buffer;
    double answered_ns = kvc_composed_answer(server, job, began_ns, ended_ns, before_ns, after_ns);
    kvc_composed_free_job(server, number);
    if (of_batch) {
        end_batch(server, pipeline, buffer, ended_ns);
    }
    kvc_composed_send_frames(server, answered_ns);
    if (server->scenario->workload.arrival == KVC_ARRIVAL_CLOSED || kvc_source_fills(server->source)) {
        kvc_composed_send_next(server, ended_ns);
    }
}

/* ---- stations ---- */

static void serve(struct kvc_composed_server *server, struct kvc_composed_station *station, double now_ns);
static void take_blocked(struct kvc_composed_server *server, uint32_t number, uint32_t stage, double now_ns);
static void arrive(struct kvc_composed_server *server, uint32_t number, uint32_t stage, double now_ns);
static void enter(struct kvc_composed_server *server, uint32_t number, uint32_t stage, double now_ns);
static void pass_by(struct kvc_composed_server *server, uint32_t number, uint32_t stage, double now_ns);
static bool join_batch(struct kvc_composed_server *server, uint32_t number, double now_ns);
static void answer_at_once(struct kvc_composed_server *server, uint32_t number, uint32_t stage,
                           double now_ns);

/* Turns away a job that finds the queue of a stage full. */
static void drop(struct kvc_composed_server *server, uint32_t number, uint32_t stage, double now_ns)
{
    struct kvc_composed_job *job = job_of(server, number);
    bool of_batch = job->is_batch || job->is_apart;
    uint8_t buffer = job->buffer;
    uint32_t pipeline = job->pipeline;
    job->is_refused = server->config->stage[stage].options->full == KVC_COMPOSED_REFUSE;
    kvc_composed_lose(server, job);
    if (job->is_refused) {
        answer_at_once(server, number, server->config->stages - 1, now_ns);
        return;
    }
    kvc_composed_free_job(server, number);
    if (of_batch) {
        end_batch(server, pipeline, buffer, now_ns);
    }
}

/* Moves idle cores of a pipeline from pools that have more than the policy wants to those that have fewer. */
static void move_cores(struct kvc_composed_server *server, uint32_t number, double now_ns)
{
    struct kvc_composed_pipeline *pipeline = &server->pipeline[number];
    for (uint32_t i = 0; i < server->stations; i++) {
        struct kvc_composed_station *station = &server->station[i];
        while (station->pipeline == number && station->servers > station->wanted &&
               station->servers > station->busy) {
            station->servers--;
            pipeline->spare++;
        }
    }
    for (uint32_t i = 0; i < server->stations; i++) {
        struct kvc_composed_station *station = &server->station[i];
        while (station->pipeline == number && station->servers < station->wanted && pipeline->spare > 0) {
            station->servers++;
            pipeline->spare--;
            serve(server, station, now_ns);
        }
    }
}

static void leave_station(struct kvc_composed_server *server, struct kvc_composed_station *station,
                          double now_ns)
{
    if (station == NULL) {
        return;
    }
    station->busy--;
    if (station->servers > station->wanted) {
        move_cores(server, station->pipeline, now_ns);
    }
    const struct kvc_composed_pool *pool = &server->config->pool[station->pool];
    if (station->queued > 0 || (pool->stages & server->sharing) != 0 || pool->steals) {
        serve(server, station, now_ns);
    }
}

/* Returns the station that holds a job while it waits, as a number; NO_STATION: none does. */
static uint32_t holder(const struct kvc_composed_server *server, const struct kvc_composed_station *station,
                       uint32_t stage)
{
    bool holds = station != NULL && !server->fixed[stage].turns;
    return holds ? (uint32_t)(station - server->station) : NO_STATION;
}

static void leave_holder(struct kvc_composed_server *server, uint32_t number, double now_ns)
{
    leave_station(server, number != NO_STATION ? &server->station[number] : NULL, now_ns);
}

/* Ends the time of a job at its station: passes it on, or lets the server hold it until there is room. */
static void pass_on(struct kvc_composed_server *server, struct kvc_composed_station *station, uint32_t number,
                    uint32_t stage, double now_ns, double latency_ns)
{
    const struct kvc_composed_config *config = server->config;
    const struct kvc_composed_job *job = job_of(server, number);
    uint32_t next = stage + 1, by = holder(server, station, stage);
    if (next == config->batched && !job->is_batch) {
        uint32_t pipeline = job->pipeline;
        if (latency_ns > 0 && server->pipeline[pipeline].held.count == 0) { /* Else it is stalled. */
            kvc_events_add(&server->events, now_ns + latency_ns, KVC_COMPOSED_ARRIVES, (uint16_t)next,
                           number);
        } else if (join_batch(server, number, now_ns)) {
            close_idle(server, pipeline, now_ns);
        } else {
            server->front = server->front > 1 ? 1 : server->front; /* Its cores wait from now on. */
            kvc_ring_push(&server->pipeline[pipeline].held, number, by);
            leave_station(server, by == NO_STATION ? station : NULL, now_ns);
            return;
        }
    } else {
        struct kvc_composed_station *to = kvc_composed_station_of(server, next, job->pipeline);
        const struct kvc_composed_fixed *fixed = &server->fixed[next];
        bool is_full =
            fixed->room > 0 && kvc_composed_waiting_for(server, to, next, job->pipeline) >= fixed->room;
        job_of(server, number)->ready_ns = now_ns;
        if (is_full && !fixed->drops && !fixed->own_pool) { /* No pool waits for an earlier one. */
            to = fixed->is_shared ? kvc_composed_station_of(server, next, 0) : to;
            kvc_ring_push(&to->held, (uint64_t)by << 32 | number, next);
            leave_station(server, by == NO_STATION ? station : NULL, now_ns);
            return;
        }
        if (is_full && fixed->drops) {
            drop(server, number, next, now_ns);
        } else if (latency_ns > 0) {
            kvc_events_add(&server->events, now_ns + latency_ns, KVC_COMPOSED_ARRIVES, (uint16_t)next,
                           number);
        } else {
            arrive(server, number, next, now_ns);
        }
    }
    leave_station(server, station, now_ns);
}

/* Lets jobs that waited for room in the queue of a stage come. */
static void take_held(struct kvc_composed_server *server, struct kvc_composed_station *station, double now_ns)
{
    while (station->held.count > 0) {
        uint32_t stage = kvc_ring_first(&station->held)->tag;
        uint32_t number = (uint32_t)kvc_ring_first(&station->held)->value;
        uint64_t room = server->fixed[stage].room;
        if (room > 0 &&
            kvc_composed_waiting_for(server, station, stage, job_of(server, number)->pipeline) >= room) {
            return;
        }
        uint32_t by = (uint32_t)(kvc_ring_pop(&station->held).value >> 32);
        arrive(server, number, stage, now_ns);
        leave_holder(server, by, now_ns);
    }
}

/* One of several stages beside each other has done its work for a job, which goes on after the last one. */
static void join_parts(struct kvc_composed_server *server, uint32_t number, uint32_t stage, double now_ns)
{
    uint32_t first = server->config->stage[stage].first, last = server->config->stage[stage].last;
    struct kvc_composed_job *job = job_of(server, number);
    if (--job->parts > 0) {
        return;
    }
    for (uint32_t i = first; i <= last; i++) {
        kvc_composed_job_mark(job, now_ns);
    }
    pass_on(server, NULL, number, last, now_ns, 0);
}

static void end_part(struct kvc_composed_server *server, uint32_t number, uint32_t stage, double now_ns,
                     double latency_ns)
{
    const struct kvc_composed_job *job = job_of(server, number);
    uint32_t whole = job->is_part ? job->whole : number;
    if (job->is_part) {
        kvc_composed_free_job(server, number);
    }
    if (latency_ns > 0) {
        kvc_events_add(&server->events, now_ns + latency_ns, KVC_COMPOSED_JOINS, (uint16_t)stage, whole);
    } else {
        join_parts(server, whole, stage, now_ns);
    }
}

static void end_of_stage(struct kvc_composed_server *server, struct kvc_composed_station *station,
                         uint32_t number, uint32_t stage, double now_ns, double latency_ns)
{
    const struct kvc_composed_config *config = server->config;
    struct kvc_composed_job *job = job_of(server, number);
    bool streamed = server->fixed[stage].streams_out;
    if (job->is_ghost) {
        kvc_composed_free_job(server, number);
        leave_station(server, station, now_ns);
        return;
    }
    if (job->parts > 0 || job->is_part) {
        end_part(server, number, stage, now_ns, latency_ns);
        leave_station(server, station, now_ns);
        return;
    }
    if (!streamed && stage + 1 < config->stages) {
        kvc_composed_job_mark(job, now_ns);
        pass_on(server, station, number, stage, now_ns, latency_ns);
        return;
    }
    if (latency_ns > 0) { /* What it frees is free when it is answered. */
        kvc_events_add(&server->events, now_ns + latency_ns, KVC_COMPOSED_ANSWERS, (uint16_t)stage, number);
        leave_station(server, station, now_ns);
        return;
    }
    double began_ns = server->fixed[stage].fills_in_turn ? job->filled_ns : now_ns;
    double before_ns = 0, after_ns = 0;
    if (streamed) {
        before_ns = job->backlog_ns;
        after_ns = kvc_composed_left_to_send(server, job, now_ns);
    }
    answer(server, number, began_ns, now_ns, before_ns, after_ns);
    leave_station(server, station, now_ns);
}

/* Lets the wire take the responses of a job that are all there, and answers it. */
static void answer_at_once(struct kvc_composed_server *server, uint32_t number, uint32_t stage, double now_ns)
{
    struct kvc_composed_job *job = job_of(server, number);
    const struct kvc_composed_price *price = kvc_composed_price_of(server, stage, job);
    double before_ns = kvc_composed_take_wire(server, job, price, now_ns, 0);
    kvc_composed_count_messages(server, job, KVC_COMPOSED_NIC_TX, stage, price->cost.busy_ns, before_ns);
    answer(server, number, now_ns, now_ns, before_ns, kvc_composed_left_to_send(server, job, now_ns));
}

/* Lets responses enter the wire while the stage fills them, from now_ns on for busy_ns. */
static void stream_out(struct kvc_composed_server *server, struct kvc_composed_job *job, uint32_t stage,
                       double now_ns, double busy_ns)
{
    const struct kvc_composed_price *price = kvc_composed_price_of(server, stage + 1, job);
    job->backlog_ns = kvc_composed_take_wire(server, job, price, now_ns, busy_ns);
    kvc_composed_count_messages(server, job, KVC_COMPOSED_NIC_TX, stage + 1, price->cost.busy_ns,
                                job->backlog_ns);
}

/* Counts the time of a server. A stage whose cores come and go is as busy as the share of those that it has.
 */
static void count_work(struct kvc_composed_server *server, const struct kvc_composed_station *station,
                       uint32_t stage, double work_ns)
{
    server->busy_ns[stage] += work_ns * server->config->pool[station->pool].servers / station->servers;
    server->traffic[stage].work_ns += work_ns;
}

/* Lets a job ask storage, or another node. It goes on at once if there is nothing to wait for. */
static void ask_storage(struct kvc_composed_server *server, uint32_t number, uint32_t stage, double now_ns)
{
    const struct kvc_composed_config *config = server->config;
    struct kvc_composed_job *job = job_of(server, number);
    struct kvc_composed_job *whole = job->is_part ? job_of(server, job->whole) : job;
    uint32_t does = config->stage[stage].does;
    struct kvc_composed_counts counts;
    job->began_ns = now_ns;
    if (does != 0) {
        kvc_composed_execute(&server->structures, whole, does, NULL, true, &counts);
    }
    if (config->stage[stage].place == KVC_COMPOSED_NODE) { /* Its message leaves behind what the wire has. */
        const struct kvc_composed_price *price = kvc_composed_price_of(server, stage, whole);
        double before_ns = kvc_composed_left_to_send(server, job, now_ns);
        kvc_composed_take_shared(server, job, price, now_ns, 0);
        kvc_composed_count_messages(server, whole, KVC_COMPOSED_NIC_TX, stage, price->cost.busy_ns,
                                    before_ns);
        kvc_composed_storage_visit(&server->storage, job, number, stage,
                                   now_ns + kvc_composed_left_to_send(server, job, now_ns) +
                                       price->cost.latency_ns);
        return;
    }
    kvc_composed_count_job(server, stage, job->counts.requests, now_ns - job->ready_ns);
    const struct kvc_dram_load load = {
        .streamed_bytes = kvc_composed_storage_begin(&server->storage, job, number, stage, now_ns)};
    server->channel_ns += kvc_dram_channel_ns(config->dram, &load);
    if (job->waits == 0) {
        end_of_stage(server, kvc_composed_station_of(server, stage, job->pipeline), number, stage, now_ns, 0);
    }
}

static void begin_on_storage(struct kvc_composed_server *server, uint32_t number, uint32_t stage,
                             double now_ns)
{
    if (kvc_composed_storage_is_full(&server->storage, stage)) {
        kvc_ring_push(&server->storage.blocked, number, stage);
    } else {
        ask_storage(server, number, stage, now_ns);
    }
}

/* Begins with a job at a free server. */
static void begin(struct kvc_composed_server *server, struct kvc_composed_station *station, uint32_t number,
                  uint32_t stage, double now_ns)
{
    const struct kvc_composed_config *config = server->config;
    const struct kvc_composed_stage *at = &config->stage[stage];
    struct kvc_composed_job *job = job_of(server, number);
    struct kvc_composed_job *whole = job->is_part ? job_of(server, job->whole) : job;
    struct kvc_composed_counts touched, *counts = at->does != 0 ? &touched : &whole->counts;
    bool is_later = server->fixed[stage].defers;
    if (kvc_composed_is_away(at->place)) {
        station->busy++;
        if (job->is_ghost) { /* Copies for another node that nobody waits for. */
            job->counts = job->later.counts;
            job->later.counts = (struct kvc_composed_counts){0};
            server->pipeline[job->pipeline].ghosts[stage]--;
        }
        begin_on_storage(server, number, stage, now_ns);
        return;
    }
    kvc_composed_take_lost(server, whole, at->does);
    if (at->does != 0) {
        kvc_composed_execute(&server->structures, whole, at->does, is_later ? &job->later.writes : NULL, true,
                             &touched);
    }
    if (is_later) { /* The stage works for several batches. */
        struct kvc_composed_counts all = job->later.counts;
        all.inserts = counts->inserts;
        all.insert_lines = counts->insert_lines;
        all.erases = counts->erases;
        all.erase_lines = counts->erase_lines;
        touched = all;
        counts = &touched;
        job->later.counts = (struct kvc_composed_counts){0};
        server->pipeline[job->pipeline].ghosts[stage] -= job->is_ghost;
    }
    job->began_ns = job->filled_ns = now_ns;
    station->busy++;
    kvc_composed_count_job(server, stage, counts->requests, now_ns - job->ready_ns);
    const struct kvc_composed_price *price = counts == &whole->counts
                                                 ? kvc_composed_price_of(server, stage, whole)
                                                 : kvc_composed_find_price(server, stage, counts, 0);
    double busy_ns = price->cost.busy_ns + job->steal_ns;
    double core_ns = price->cost.core_ns + job->steal_ns * config->pool[at->pool].cores;
    job->steal_ns = 0;
    job->station = (uint32_t)(station - server->station);
    if (at->place == KVC_COMPOSED_GPU) {
        uint32_t stream = kvc_composed_take_stream(station);
        server->kernel[stream] =
            (struct kvc_composed_kernel){number, job->station, server->kernels++, (uint8_t)stage};
        if (price->cost.channel_ns > 0) { /* The GPU uses host memory. */
            kvc_composed_take_memory(server, job, price, now_ns);
        }
        kvc_gpu_streams_begin(server->gpu, stream, now_ns,
                              &(struct kvc_gpu_stream_job){.kernel = price->cost.kernel});
        return;
    }
    count_work(server, station, stage, busy_ns);
    server->place_ns[at->place] += kvc_composed_has_cores(at->place) ? core_ns : busy_ns;
    double late_ns = kvc_composed_outage_begin(server, job, now_ns, busy_ns);
    busy_ns += late_ns + kvc_composed_stalls_begin(server, job, stage, now_ns + late_ns, busy_ns);
    kvc_composed_take_shared(server, job, price, now_ns, busy_ns);
    if (server->fixed[stage].streams_out && !job->is_ghost) {
        stream_out(server, job, stage, now_ns, busy_ns);
    }
    job->latency_ns = price->cost.latency_ns;
    if (at->place == KVC_COMPOSED_NIC_RX && station->servers == 1) {
        kvc_events_append(&server->events, KVC_COMPOSED_LINKS, now_ns + busy_ns, KVC_COMPOSED_ENDS,
                          (uint16_t)stage, number);
        return;
    }
    kvc_events_add(&server->events, now_ns + busy_ns, KVC_COMPOSED_ENDS, (uint16_t)stage, number);
    if (server->fixed[stage].answers_early && !job->is_ghost) {
        kvc_composed_answer_early(server, number, busy_ns - late_ns);
    }
}

/* Takes the next job for a station: of its own queues, or else of one that all pipelines share, or of another
 * pipeline. Returns the station at whose queue there is room for one more now; NULL: there is no job. */
static struct kvc_composed_station *take_job(struct kvc_composed_server *server,
                                             struct kvc_composed_station *station, uint32_t *number,
                                             uint32_t *stage)
{
    const struct kvc_composed_pool *pool = &server->config->pool[station->pool];
    uint32_t stages = pool->stages & server->sharing;
    struct kvc_ring *queue = kvc_composed_first_queue(station);
    struct kvc_composed_station *from = station;
    if (queue == NULL && stages != 0) {
        queue = &server->shared[__builtin_ctz(stages)];
        job_of(server, (uint32_t)kvc_ring_first(queue)->value)->pipeline = station->pipeline;
        from = kvc_composed_station_of(server, (uint32_t)__builtin_ctz(stages), 0);
    }
    if (queue == NULL && pool->steals) {
        from = kvc_composed_victim(server, station);
        queue = from != NULL ? kvc_composed_first_queue(from) : NULL;
    }
    if (queue == NULL) {
        return NULL;
    }
    struct kvc_ring_entry entry = kvc_ring_pop(queue);
    *number = (uint32_t)entry.value;
    *stage = entry.tag;
    bool is_shared = server->fixed[*stage].is_shared, stolen = from != station && !is_shared;
    from->queued -= !is_shared;
    job_of(server, *number)->steal_ns = stolen ? server->config->stage[*stage].options->steal_ns : 0;
    kvc_composed_join_burst(server, from, queue, *number, *stage);
    server->sharing &= ~(is_shared && queue->count == 0 ? 1u << *stage : 0);
    return from;
}

static void serve(struct kvc_composed_server *server, struct kvc_composed_station *station, double now_ns)
{
    const struct kvc_composed_pool *pool = &server->config->pool[station->pool];
    struct kvc_composed_station *from;
    uint32_t number, stage;
    while ((pool->takes_all || station->busy < station->servers) &&
           (from = take_job(server, station, &number, &stage)) != NULL) {
        uint32_t pipeline = job_of(server, number)->pipeline;
        server->traffic[stage].taken++;
        begin(server, station, number, stage, now_ns);
        take_blocked(server, pipeline, stage, now_ns);
        take_held(server, from, now_ns);
    }
}

/* Queues a job that any pipeline may serve, and wakes one that is idle: its own, or else the next one. */
static void share_job(struct kvc_composed_server *server, uint32_t number, uint32_t stage, double now_ns)
{
    const struct kvc_composed_config *config = server->config;
    uint32_t own = job_of(server, number)->pipeline;
    struct kvc_composed_station *idle = NULL;
    for (uint32_t i = 0; i < config->pipelines && idle == NULL; i++) {
        struct kvc_composed_station *station =
            kvc_composed_station_of(server, stage, (own + i) % config->pipelines);
        idle = station->busy < station->servers ? station : NULL;
    }
    if (idle != NULL && idle->queued == 0 && server->shared[stage].count == 0) {
        job_of(server, number)->pipeline = idle->pipeline;
        begin(server, idle, number, stage, now_ns);
        return;
    }
    kvc_composed_queue(server, NULL, number, stage);
    if (idle != NULL) {
        serve(server, idle, now_ns);
    }
}

/* ---- who is served ---- */

/* Lets a job pass by a stage, and those beside it. */
static void pass_by(struct kvc_composed_server *server, uint32_t number, uint32_t stage, double now_ns)
{
    uint32_t last = server->config->stage[stage].last;
    for (uint32_t i = stage; i <= last; i++) {
        kvc_composed_job_mark(job_of(server, number), now_ns);
    }
    pass_on(server, NULL, number, last, now_ns, 0);
}

/* Queues the work of a stage in the background, which goes on without the job. */
static void leave_ghost(struct kvc_composed_server *server, uint32_t number, uint32_t stage, double now_ns)
{
    uint32_t ghost = kvc_composed_new_job(server, false), pipeline = job_of(server, number)->pipeline;
    job_of(server, ghost)->is_ghost = true;
    job_of(server, ghost)->pipeline = pipeline;
    job_of(server, ghost)->counts = (struct kvc_composed_counts){0};
    job_of(server, ghost)->alike = 0;
    job_of(server, ghost)->ready_ns = job_of(server, number)->ready_ns;
    kvc_composed_hand_over(server, ghost, stage);
    server->pipeline[pipeline].ghosts[stage]++;
    struct kvc_composed_station *station = kvc_composed_station_of(server, stage, pipeline);
    kvc_composed_queue(server, station, ghost, stage);
    serve(server, station, now_ns);
}

/* Lets a job leave its work to a stage in the background, and go on. */
static void leave_work(struct kvc_composed_server *server, uint32_t number, uint32_t stage, double now_ns)
{
    if (kvc_composed_keep_writes(server, number, stage)) {
        leave_ghost(server, number, stage, now_ns);
    }
    pass_by(server, number, stage, now_ns);
}

/* Lets jobs go on that waited while other work for a stage in the background did. */
static void take_blocked(struct kvc_composed_server *server, uint32_t number, uint32_t stage, double now_ns)
{
    struct kvc_composed_pipeline *pipeline = &server->pipeline[number];
    while (pipeline->blocked[stage].count > 0 && pipeline->ghosts[stage] == 0) {
        leave_work(server, (uint32_t)kvc_ring_pop(&pipeline->blocked[stage]).value, stage, now_ns);
    }
}

/* Wakes an idle station of another pipeline whose cores take jobs that wait at a station. */
static void wake_thief(struct kvc_composed_server *server, const struct kvc_composed_station *station,
                       double now_ns)
{
    const struct kvc_composed_config *config = server->config;
    const struct kvc_composed_pool *pool = &config->pool[station->pool];
    for (uint32_t i = 1; i < config->pipelines && pool->steals && station->queued > 0; i++) {
        struct kvc_composed_station *other =
            &server->station[pool->first + (station->pipeline + i) % config->pipelines];
        if (other->busy < other->servers) {
            serve(server, other, now_ns);
        }
    }
}

static void queue_job(struct kvc_composed_server *server, uint32_t number, uint32_t stage, double now_ns)
{
    if (server->fixed[stage].is_shared) {
        share_job(server, number, stage, now_ns);
        return;
    }
    struct kvc_composed_station *station =
        kvc_composed_station_of(server, stage, job_of(server, number)->pipeline);
    if (station->queued == 0 && station->busy < station->servers) {
        begin(server, station, number, stage, now_ns);
        return;
    }
    kvc_composed_queue(server, station, number, stage);
    serve(server, station, now_ns);
    wake_thief(server, station, now_ns);
}

/* Queues what the stages beside a stage do for a job. One that works only for other operations has nothing to
 * do.
 */
static void split_work(struct kvc_composed_server *server, uint32_t number, uint32_t stage, double now_ns)
{
    const struct kvc_composed_config *config = server->config;
    uint32_t last = config->stage[stage].last;
    job_of(server, number)->parts = last > stage ? last - stage + 1 : 0;
    for (uint32_t i = stage + 1; i <= last; i++) {
        const struct kvc_composed_stage_options *options = config->stage[i].options;
        double concerned = 0;
        for (int op = 0; op < KVC_OP_COUNT; op++) {
            concerned += (options->of >> op & 1) != 0 ? job_of(server, number)->counts.ops[op] : 0;
        }
        if (concerned == 0 && config->stage[i].does == 0) {
            job_of(server, number)->parts--;
            continue;
        }
        uint32_t part = kvc_composed_new_job(server, false);
        job_of(server, part)->is_part = true;
        job_of(server, part)->whole = number;
        job_of(server, part)->pipeline = job_of(server, number)->pipeline;
        job_of(server, part)->ready_ns = job_of(server, number)->ready_ns;
        queue_job(server, part, i, now_ns);
    }
}

/* Lets each request of a batch come to a stage by itself. */
static void come_apart(struct kvc_composed_server *server, uint32_t number, uint32_t stage, double now_ns)
{
    struct kvc_composed_job *batch = job_of(server, number);
    uint32_t count = batch->rows->count;
    server->pipeline[batch->pipeline].parts[batch->buffer] += count - 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t one = kvc_composed_new_job(server, false);
        kvc_composed_job_take_apart(job_of(server, one), batch, i);
        kvc_composed_job_count(job_of(server, one), server->config);
        arrive(server, one, stage, now_ns);
    }
    kvc_composed_free_job(server, number);
}

static void arrive(struct kvc_composed_server *server, uint32_t number, uint32_t stage, double now_ns)
{
    const struct kvc_composed_config *config = server->config;
    uint32_t others;
    if (server->fixed[stage].is_straight) {
        queue_job(server, number, stage, now_ns);
        return;
    }
    if (stage == config->apart && job_of(server, number)->is_batch) {
        come_apart(server, number, stage, now_ns);
        return;
    }
    if (stage == config->batched && !job_of(server, number)->is_batch) {
        pass_on(server, NULL, number, stage - 1, now_ns, 0);
        return;
    }
    if (!kvc_composed_choose(server, number, stage, &others)) {
        pass_by(server, number, stage, now_ns);
        return;
    }
    if (others != UINT32_MAX) {
        pass_by(server, others, stage, now_ns);
    }
    if (config->stage[stage].after != stage && kvc_composed_runs_before(server, stage, server->kernels)) {
        kvc_ring_push(&server->after[stage], number, server->kernels);
    } else {
        enter(server, number, stage, now_ns);
    }
}

/* Lets a job into a stage that is for it. */
static void enter(struct kvc_composed_server *server, uint32_t number, uint32_t stage, double now_ns)
{
    const struct kvc_composed_config *config = server->config;
    const struct kvc_composed_stage_options *options = config->stage[stage].options;
    if (options->background) { /* While such work still waits, jobs wait until the stage begins with it. */
        struct kvc_composed_pipeline *pipeline = &server->pipeline[job_of(server, number)->pipeline];
        if (pipeline->ghosts[stage] > 0) {
            kvc_ring_push(&pipeline->blocked[stage], number, stage);
        } else {
            leave_work(server, number, stage, now_ns);
        }
        return;
    }
    if (options->every > 1) {
        if (!kvc_composed_keep_writes(server, number, stage)) {
            pass_by(server, number, stage, now_ns);
            return;
        }
        kvc_composed_hand_over(server, number, stage);
    }
    if (server->fixed[stage].answers_by_wire) {
        answer_at_once(server, number, stage, now_ns);
        return;
    }
    split_work(server, number, stage, now_ns);
    queue_job(server, number, stage, now_ns);
}

/* ---- batches ---- */

static void close_batch(struct kvc_composed_server *server, struct kvc_composed_pipeline *pipeline,
                        double now_ns)
{
    struct kvc_composed_job *job = pipeline->open;
    uint32_t number = job->next;
    pipeline->open = NULL;
    server->batches.closed++;
    server->batches.full += job->rows->count >= server->limits.count;
    server->batches.requests += job->rows->count;
    kvc_composed_job_mark(job, now_ns);
    job->ready_ns = now_ns;
    arrive(server, number, server->config->batched, now_ns);
}

/* Closes what has come to a pipeline while it was busy, if no other batch is under way. */
static void close_idle(struct kvc_composed_server *server, uint32_t number, double now_ns)
{
    const struct kvc_composed_batch_options *batch = &server->config->options->batch;
    struct kvc_composed_pipeline *pipeline = &server->pipeline[number];
    if (batch->while_busy && pipeline->open != NULL && pipeline->open->rows->count > 0 &&
        (uint64_t)__builtin_popcountll(pipeline->free_buffers) + 1 == batch->buffers) {
        close_batch(server, pipeline, now_ns);
    }
}

static bool open_batch(struct kvc_composed_server *server, uint32_t number, double now_ns)
{
    struct kvc_composed_pipeline *pipeline = &server->pipeline[number];
    double timeout_ns = server->limits.timeout_ns;
    if (pipeline->open != NULL || pipeline->free_buffers == 0) {
        return pipeline->open != NULL;
    }
    uint32_t job = kvc_composed_new_job(server, true);
    uint8_t buffer = (uint8_t)__builtin_ctzll(pipeline->free_buffers);
    pipeline->free_buffers &= pipeline->free_buffers - 1;
    pipeline->parts[buffer] = 1;
    pipeline->opened++;
    pipeline->open_bytes = 0;
    pipeline->open = job_of(server, job);
    pipeline->open->pipeline = number;
    pipeline->open->buffer = buffer;
    pipeline->open->alike = 0;
    pipeline->open->counts = (struct kvc_composed_counts){0};
    pipeline->open->next = job; /* A job in use is in no list. */
    if (timeout_ns > 0) {
        kvc_events_add(&server->events, now_ns + timeout_ns, KVC_COMPOSED_TIMES_OUT, (uint16_t)number,
                       pipeline->opened);
    }
    return true;
}

/* Adds a frame to the batch of its pipeline, and to further ones if it does not fit. Returns false if a batch
 * is wanting, and keeps the rows that are left. */
static bool join_batch(struct kvc_composed_server *server, uint32_t number, double now_ns)
{
    struct kvc_composed_job *frame = job_of(server, number);
    const struct kvc_composed_batch_options *batch = &server->config->options->batch;
    struct kvc_composed_pipeline *pipeline = &server->pipeline[frame->pipeline];
    uint32_t done = 0, count = frame->rows->count;
    while (done < count && open_batch(server, frame->pipeline, now_ns)) {
        frame = job_of(server, number);
        struct kvc_composed_job *open = pipeline->open;
        uint32_t room =
            server->limits.count > open->rows->count ? server->limits.count - open->rows->count : 0;
        uint32_t taken = count - done < room ? count - done : room;
        kvc_composed_job_append(open, frame, done, taken);
        kvc_composed_job_take_evicted(open, frame);
        struct kvc_composed_counts part, *counts = &frame->counts;
        if (taken < count) {
            part = kvc_composed_job_count_rows(frame, done, taken, server->config);
            counts = &part;
        }
        kvc_composed_counts_add(&open->counts, counts, 1);
        pipeline->open_bytes += frame->counts.request_bytes * taken / count;
        done += taken;
        bool full = open->rows->count >= server->limits.count ||
                    (batch->bytes > 0 && pipeline->open_bytes >= batch->bytes);
        if (full) {
            close_batch(server, pipeline, now_ns);
        }
    }
    if (done == count) {
        kvc_composed_free_job(server, number);
        return true;
    }
    for (uint32_t i = 0; i < count && done > 0; i++) {
        server->moves[i] = i < done;
    }
    if (done > 0) { /* The rows that were taken leave the frame. */
        uint32_t scratch = kvc_composed_new_job(server, false);
        kvc_composed_job_split(job_of(server, number), server->moves, job_of(server, scratch));
        kvc_composed_free_job(server, scratch);
        kvc_composed_job_count(job_of(server, number), server->config);
    }
    return false;
}

/* A part of a batch is answered, or lost. After the last one, the batch is free again: frames that waited for
 * it join it. */
static void end_batch(struct kvc_composed_server *server, uint32_t number, uint8_t buffer, double now_ns)
{
    struct kvc_composed_pipeline *pipeline = &server->pipeline[number];
    if (--pipeline->parts[buffer] > 0) {
        return;
    }
    pipeline->free_buffers |= UINT64_C(1) << buffer;
    if (pipeline->joins) { /* A frame that waited joins one that is answered at once. */
        return;
    }
    pipeline->joins = true;
    while (pipeline->held.count > 0 && (pipeline->open != NULL || pipeline->free_buffers != 0)) {
        struct kvc_ring_entry entry = *kvc_ring_first(&pipeline->held);
        if (join_batch(server, (uint32_t)entry.value, now_ns)) {
            kvc_ring_pop(&pipeline->held);
            leave_holder(server, entry.tag, now_ns);
        }
    }
    pipeline->joins = false;
    close_idle(server, number, now_ns);
}

/* ---- the GPU ---- */

static void end_kernels(struct kvc_composed_server *server, double now_ns)
{
    uint32_t stream;
    while ((stream = kvc_gpu_streams_ended(server->gpu, now_ns)) != KVC_GPU_STREAM_NONE) {
        const struct kvc_composed_kernel ended = server->kernel[stream];
        struct kvc_composed_station *station = &server->station[ended.station];
        uint32_t number = ended.job, at = stream - station->first_stream, stage = ended.stage;
        server->kernel[stream].stage = KVC_COMPOSED_STAGES_MAX;
        double began_ns = job_of(server, number)->began_ns;
        double off_ns = kvc_composed_outage_within(server, KVC_COMPOSED_GPU, began_ns, now_ns);
        count_work(server, station, stage, now_ns - began_ns - off_ns);
        station->free_streams[at / 64] |= UINT64_C(1) << at % 64;
        /* The stream takes its next kernel while memory still works for this one. */
        double wait_ns = kvc_composed_end_shared(server, job_of(server, number), stage, now_ns);
        end_of_stage(server, station, number, stage, now_ns, wait_ns);
    }
    for (uint32_t i = server->config->batched; i < server->config->stages; i++) {
        struct kvc_ring *waiting = &server->after[i];
        while (waiting->count > 0 && !kvc_composed_runs_before(server, i, kvc_ring_first(waiting)->tag)) {
            enter(server, (uint32_t)kvc_ring_pop(waiting).value, i, now_ns);
        }
    }
}

/* ---- the policy ---- */

static void look(struct kvc_composed_server *server, double now_ns)
{
    bool changed = kvc_composed_policy_look(server, now_ns);
    for (uint32_t i = 0; i < server->config->pipelines && changed; i++) {
        struct kvc_composed_pipeline *pipeline = &server->pipeline[i];
        if (pipeline->open != NULL && pipeline->open->rows->count >= server->limits.count) {
            close_batch(server, pipeline, now_ns);
        }
        move_cores(server, i, now_ns);
    }
    kvc_events_add(&server->events, now_ns + server->config->options->policy_every_ns, KVC_COMPOSED_LOOKS, 0,
                   0);
}

/* ---- time ---- */

/* Whether a frame that comes from the network finds the queue of the first stage full. */
static bool finds_it_full(const struct kvc_composed_server *server, uint32_t number)
{
    uint32_t pipeline = job_of(server, number)->pipeline;
    uint64_t room = server->fixed[0].room;
    return room > 0 && server->fixed[0].drops &&
           kvc_composed_waiting_for(server, kvc_composed_station_of(server, 0, pipeline), 0, pipeline) >=
               room;
}

/* A job goes on when storage has answered all that it asked for. */
static void end_asked(struct kvc_composed_server *server, const struct kvc_event *event)
{
    struct kvc_composed_storage *storage = &server->storage;
    struct kvc_composed_asked ended;
    if (kvc_composed_storage_handle(storage, event, &ended)) {
        struct kvc_composed_job *job = job_of(server, ended.job);
        if (--job->waits == 0) {
            kvc_composed_count_storage(server, job, ended.stage, event->time_ns);
            end_of_stage(server, kvc_composed_station_of(server, ended.stage, job->pipeline), ended.job,
                         ended.stage, event->time_ns, 0);
        }
    }
    while (storage->blocked.count > 0 && !kvc_composed_flash_is_full(&storage->flash)) {
        struct kvc_ring_entry first = kvc_ring_pop(&storage->blocked);
        ask_storage(server, (uint32_t)first.value, first.tag, event->time_ns);
    }
}

static void handle(struct kvc_composed_server *server, const struct kvc_event *event)
{
    double now_ns = event->time_ns;
    if (kvc_composed_storage_owns(event)) {
        end_asked(server, event);
        return;
    }
    switch (event->kind) {
    case KVC_COMPOSED_ARRIVES:
        job_of(server, event->tag)->ready_ns = now_ns;
        server->is_coming = server->is_coming && event->unit != 0;
        if (event->unit == 0 && finds_it_full(server, event->tag)) {
            drop(server, event->tag, 0, now_ns);
        } else {
            arrive(server, event->tag, event->unit, now_ns);
        }
        break;
    case KVC_COMPOSED_RECEIVED: { /* What waits for memory comes to the next stage later. */
        struct kvc_composed_job *job = job_of(server, event->tag);
        double wait_ns = kvc_composed_front_leave(server, job, event->unit, now_ns);
        end_of_stage(server, NULL, event->tag, event->unit, now_ns, job->latency_ns + wait_ns);
        break;
    }
    case KVC_COMPOSED_ENDS: {
        struct kvc_composed_job *job = job_of(server, event->tag);
        double again_ns = kvc_composed_outage_end(server, job, event->unit, now_ns);
        if (again_ns > 0) {
            kvc_events_add(&server->events, again_ns, KVC_COMPOSED_ENDS, event->unit, event->tag);
            break;
        }
        double wait_ns = kvc_composed_end_shared(server, job, event->unit, now_ns);
        if (wait_ns > 0) {
            const struct kvc_composed_stage *at = &server->config->stage[event->unit];
            bool core = kvc_composed_has_cores(at->place);
            count_work(server, &server->station[job->station], event->unit, wait_ns);
            server->place_ns[at->place] += core ? wait_ns * server->config->pool[at->pool].cores : 0;
            wait_ns += kvc_composed_stalls_go_on(server, job, now_ns, wait_ns);
            kvc_events_add(&server->events, now_ns + wait_ns, KVC_COMPOSED_ENDS, event->unit, event->tag);
            break;
        }
        end_of_stage(server, &server->station[job->station], event->tag, event->unit, now_ns,
                     job->latency_ns);
        break;
    }
    case KVC_COMPOSED_JOINS:
        join_parts(server, event->tag, event->unit, now_ns);
        break;
    case KVC_COMPOSED_ANSWERS:
        answer(server, event->tag, now_ns, now_ns, 0, 0);
        break;
    case KVC_COMPOSED_FILLS: {
        struct kvc_composed_job *job = job_of(server, event->tag);
        uint32_t stage = server->config->stages - 1;
        bool streamed = server->config->stage[stage].place == KVC_COMPOSED_NIC_TX;
        kvc_composed_answer_part(server, job, event->unit, streamed, now_ns);
        kvc_composed_send_next(server, now_ns);
        break;
    }
    case KVC_COMPOSED_TIMES_OUT: {
        struct kvc_composed_pipeline *pipeline = &server->pipeline[event->unit];
        if (pipeline->open != NULL && pipeline->opened == event->tag && pipeline->open->rows->count > 0) {
            close_batch(server, pipeline, now_ns);
        }
        break;
    }
    case KVC_COMPOSED_LOOKS:
        look(server, now_ns);
        break;
    default:
        for (uint32_t i = 0; i < server->config->pipelines; i++) {
            if (server->pipeline[i].open != NULL && server->pipeline[i].open->rows->count > 0) {
                close_batch(server, &server->pipeline[i], now_ns);
            }
        }
        kvc_events_add(&server->events, now_ns + server->limits.every_ns, KVC_COMPOSED_CYCLES, 0, 0);
    }
}

void kvc_composed_server_open(struct kvc_composed_server *server, const struct kvc_scenario *scenario,
                              const struct kvc_composed_stores *stores, struct kvc_replica *replica,
                              uint32_t number, const struct kvc_composed_expected *expected)
{
    kvc_composed_state_open(server, scenario, stores, replica, number, expected);
    kvc_composed_open_fixed(server);
    kvc_composed_phases_open(server);
    kvc_composed_stalls_open(server);
    kvc_composed_front_open(server);
    const struct kvc_composed_config *config = server->config;
    if (config->batched < config->stages && config->options->batch.every_ns > 0) {
        kvc_events_add(&server->events, config->options->batch.every_ns, KVC_COMPOSED_CYCLES, 0, 0);
    }
    kvc_composed_policy_open(server);
    if (server->policy != NULL) {
        kvc_events_add(&server->events, config->options->policy_every_ns, KVC_COMPOSED_LOOKS, 0, 0);
    }
}

void kvc_composed_server_advance(struct kvc_composed_server *server, double time_ns, double slice_end_ns)
{
    double until_ns = time_ns - server->stopped_ns;
    server->slice_end_ns = slice_end_ns;
    server->until_ns = until_ns;
    kvc_composed_send_frames(server, server->advanced_ns);
    kvc_composed_follow(server, server->advanced_ns);
    server->sends_ns = INFINITY;
    kvc_composed_send_next(server, server->advanced_ns);
    for (;;) {
        double event_ns = kvc_events_next_ns(&server->events);
        double kernel_ns = server->gpu != NULL ? kvc_gpu_streams_next_ns(server->gpu) : INFINITY;
        double inside_ns = kernel_ns < event_ns ? kernel_ns : event_ns;
        if (server->sends_ns < inside_ns) { /* None sends after until_ns. */
            kvc_composed_take_frames(server, server->sends_ns);
        } else if (inside_ns > until_ns) {
            break;
        } else if (kernel_ns <= event_ns) {
            end_kernels(server, kernel_ns);
        } else {
            struct kvc_event event = kvc_events_pop(&server->events);
            handle(server, &event);
        }
        if (server->follows) {
            kvc_composed_follow(server, inside_ns);
        }
    }
    kvc_composed_storage_catch_up(&server->storage, until_ns);
    server->advanced_ns = until_ns;
}

void kvc_composed_server_stop(struct kvc_composed_server *server, double stop_ns)
{
    server->stopped_ns += stop_ns;
}
