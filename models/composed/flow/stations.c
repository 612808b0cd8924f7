#include "models/composed/flow/stations.h"

/* Returns whether requests that find the queue of a stage full are lost or refused. */
static bool drops(const struct kvc_composed_server *server, uint32_t stage)
{
    const struct kvc_composed_config *config = server->config;
    const struct kvc_composed_stage_options *options = config->stage[stage].options;
    bool ring = options->queue == 0 && stage == 1 && config->stage[0].place == KVC_COMPOSED_NIC_RX;
    const struct kvc_workload *workload = &server->scenario->workload;
    return options->full == KVC_COMPOSED_REFUSE
               ? workload->arrival != KVC_ARRIVAL_SATURATE
               : (ring || options->full == KVC_COMPOSED_DROP) && !kvc_workload_clients_wait(workload);
}

/* Whether a stage has the responses of a job one after the other. Those of a burst are there at its end,
 * because a core that overlaps their stalls has none of them before. */
static bool fills_in_turn(const struct kvc_composed_config *config, uint32_t stage)
{
    return kvc_composed_has_cores(config->stage[stage].place) && config->stage[stage].options->burst == 1;
}

/* Whether a stage's responses leave while it fills them. Those that wait for a batch first do not. */
static bool streams_out(const struct kvc_composed_config *config, uint32_t stage)
{
    const struct kvc_composed_stage *at = &config->stage[stage];
    return stage + 2 == config->stages && stage + 1 != config->batched && fills_in_turn(config, stage) &&
           at->first == at->last && config->stage[stage + 1].place == KVC_COMPOSED_NIC_TX;
}

/* Whether all jobs go into the queue of a stage as they come. */
static bool is_straight(const struct kvc_composed_config *config, uint32_t stage)
{
    const struct kvc_composed_stage *at = &config->stage[stage];
    const struct kvc_composed_stage_options *options = at->options;
    bool answers = stage + 1 == config->stages && at->place == KVC_COMPOSED_NIC_TX;
    return stage != config->batched && stage != config->apart && at->when == 0 && at->after == stage &&
           at->first == at->last && !options->background && options->every <= 1 && !options->shared &&
           !answers;
}

/* Returns the jobs that may wait for a stage. What finds the receive ring of the NIC full waits at clients
 * that have nothing else to do, and not in a port, through which requests of other pipelines pass. */
static uint64_t room_of(const struct kvc_composed_server *server, uint32_t stage)
{
    bool is_stated = server->config->stage[stage].options->queue > 0;
    return is_stated || drops(server, stage) ? kvc_composed_room_of(server->config, stage) : 0;
}

void kvc_composed_open_fixed(struct kvc_composed_server *server)
{
    const struct kvc_composed_config *config = server->config;
    for (uint32_t i = 0; i < config->stages; i++) {
        const struct kvc_composed_stage *stage = &config->stage[i];
        const struct kvc_composed_pool *pool = &config->pool[stage->pool];
        server->fixed[i] = (struct kvc_composed_fixed){
            .station = pool->first,
            .stride = pool->of_node ? 0 : 1,
            .room = room_of(server, i),
            .priority = (uint32_t)stage->options->priority,
            .drops = drops(server, i),
            .turns = kvc_composed_turns(config, i),
            .own_pool = (pool->stages & ((1u << i) - 1)) != 0,
            .is_shared = stage->options->shared,
            .defers = stage->options->background || stage->options->every > 1,
            .fills_in_turn = fills_in_turn(config, i),
            .answers_early = server->scenario->workload.arrival == KVC_ARRIVAL_CLOSED &&
                             fills_in_turn(config, i) && stage->first == stage->last &&
                             (i + 1 == config->stages || streams_out(config, i)),
            .streams_out = streams_out(config, i),
            .answers_by_wire = i + 1 == config->stages && stage->place == KVC_COMPOSED_NIC_TX,
            .is_straight = is_straight(config, i)};
    }
}

uint64_t kvc_composed_waiting_for(const struct kvc_composed_server *server,
                                  const struct kvc_composed_station *station, uint32_t stage,
                                  uint32_t pipeline)
{
    const struct kvc_composed_fixed *fixed = &server->fixed[stage];
    uint32_t left = fixed->drops && fixed->turns ? server->pipeline[pipeline].held.count : 0;
    left += server->pipeline[pipeline].blocked[stage].count;
    return left + (fixed->is_shared ? server->shared[stage].count : station->queued);
}

void kvc_composed_queue(struct kvc_composed_server *server, struct kvc_composed_station *station,
                        uint32_t number, uint32_t stage)
{
    const struct kvc_composed_fixed *fixed = &server->fixed[stage];
    if (fixed->is_shared) {
        kvc_ring_push(&server->shared[stage], number, stage);
        server->sharing |= 1u << stage;
    } else {
        kvc_ring_push(&station->queue[fixed->priority], number, stage);
        station->queued++;
    }
    server->traffic[stage].arrived++;
}

struct kvc_ring *kvc_composed_first_queue(struct kvc_composed_station *station)
{
    for (uint32_t i = station->queued > 0 ? KVC_COMPOSED_PRIORITIES : 0; i-- > 0;) {
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
    for (uint32_t i = 0; i < server->streams; i++) {
        runs = runs || (server->kernel[i].stage == after && server->kernel[i].turn < turn);
    }
    return runs;
}

/* Adds a job that waits in a queue to another one. */
static void join(struct kvc_composed_server *server, uint32_t number, uint32_t next)
{
    struct kvc_composed_job *job = server->job[number], *other = server->job[next];
    double joining = (double)other->rows->count / (job->rows->count + other->rows->count);
    job->ready_ns += joining * (other->ready_ns - job->ready_ns); /* The mean of both. */
    kvc_composed_job_append(job, other, 0, other->rows->count);
    kvc_composed_counts_add(&job->counts, &other->counts, 1);
    job->alike = 0;
    kvc_composed_job_take_evicted(job, other);
    kvc_composed_free_job(server, next);
}

void kvc_composed_join_burst(struct kvc_composed_server *server, struct kvc_composed_station *from,
                             struct kvc_ring *queue, uint32_t number, uint32_t stage)
{
    enum { TAKEN = UINT32_MAX };
    const struct kvc_composed_stage_options *options = server->config->stage[stage].options;
    const struct kvc_composed_job *job = server->job[number];
    uint64_t most = options->burst * server->config->frame_requests, rows = job->rows->count;
    bool several = server->config->pool[from->pool].of_node && !options->shared;
    uint64_t looks = options->burst > 1 ? options->burst * (several ? server->config->pipelines : 1) : 0;
    uint32_t looked = 0, taken = 0;
    for (; looked < queue->count && looked < looks && taken + 1 < options->burst && rows < most; looked++) {
        struct kvc_ring_entry *entry = kvc_ring_at(queue, looked);
        const struct kvc_composed_job *other = server->job[entry->value];
        bool apart = !options->shared && other->pipeline != job->pipeline;
        if (several && apart) {
            continue;
        }
        if (entry->tag != stage || other->is_batch || apart || rows + other->rows->count > most) {
            break;
        }
        rows += other->rows->count;
        join(server, number, (uint32_t)entry->value);
        entry->tag = TAKEN;
        taken++;
    }
    for (uint32_t left = looked, to = looked; left-- > 0 && to > taken;) { /* The others keep their order. */
        if (kvc_ring_at(queue, left)->tag != TAKEN) {
            *kvc_ring_at(queue, --to) = *kvc_ring_at(queue, left);
        }
    }
    kvc_ring_drop(queue, taken);
    from->queued -= options->shared ? 0 : taken;
    server->traffic[stage].taken += taken;
}

bool kvc_composed_choose(struct kvc_composed_server *server, uint32_t number, uint32_t stage,
                         uint32_t *others)
{
    const struct kvc_composed_config *config = server->config;
    struct kvc_composed_job *job = server->job[number];
    uint32_t when = config->stage[stage].when, passing = 0, count = job->rows->count;
    *others = UINT32_MAX;
    for (uint32_t i = 0; i < count && when != 0; i++) {
        server->moves[i] = !kvc_composed_job_meets(job, i, when, config->options->large_bytes);
        passing += server->moves[i];
    }
    if (passing == 0 || passing == count) {
        return passing == 0;
    }
    *others = kvc_composed_new_job(server, job->is_batch);
    job = server->job[number];
    kvc_composed_job_split(job, server->moves, server->job[*others]);
    kvc_composed_job_count(job, config);
    kvc_composed_job_count(server->job[*others], config);
    if (job->is_batch || job->is_apart) {
        server->pipeline[job->pipeline].parts[job->buffer]++;
    }
    return true;
}
