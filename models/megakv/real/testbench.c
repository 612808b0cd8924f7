#include "models/megakv/real/testbench.h"

#include <math.h>
#include <string.h>

#include "sim/base/clock.h"
#include "sim/base/rng.h"

enum {
    FRAME_BYTES = 1472, /* of requests, in a basic Ethernet frame */
    /* of all packets */
    MIX_BYTES = 256 << 20,
    GETS_BYTES_MIN = 64 << 20,
    GETS_BYTES_MAX = 512 << 20,
};

/* Cells of the index for each key, about: it is between 0.38 and 0.75 full, a power of two as it is. */
static const double cells_per_key = 1 / 0.75;

/* Of the slabs, so that storing all keys evicts none, and a few SETs more do. */
static const double full_frac = 0.985;

static const double for_ever_ns = 1e18;

uint32_t kvc_bed_frame_requests(enum kvc_bed_load load, uint32_t value_bytes)
{
    uint32_t bytes =
        KVC_REQUEST_HEADER_BYTES + KVC_BED_KEY_BYTES + (load == KVC_BED_MIX ? value_bytes / 2 : 0);
    return FRAME_BYTES > bytes ? FRAME_BYTES / bytes : 1;
}

static void describe(struct kvc_bed *bed, uint32_t frame_requests)
{
    const struct kvc_bed_params *params = &bed->params;
    uint32_t item_bytes = kvc_slab_item_bytes(KVC_BED_KEY_BYTES, params->value_bytes);
    kvc_options_set_defaults(&kvc_megakv_options, &bed->system);
    bed->keys = (uint64_t)(full_frac * params->slab_bytes / item_bytes);
    bed->index_bytes = exp2(ceil(log2((double)bed->keys * 8 * cells_per_key)));
    bed->system.streams = params->pipelines;
    bed->system.buffers = 4; /* filled, launched, answered, and one to go on with */
    bed->system.slab_bytes = params->slab_bytes;
    bed->system.index_bytes = bed->index_bytes;
    for (int load = 0; load < KVC_BED_LOADS; load++) {
        struct kvc_scenario *scenario = &bed->scenario[load];
        kvc_options_set_defaults(&kvc_workload_options, &scenario->workload);
        scenario->system = &bed->system;
        scenario->node.sockets = scenario->cluster.nodes = 1;
        scenario->run = (struct kvc_run){.functional = KVC_FUNCTIONAL_FULL, .seed = 1, .replicas = 1};
        scenario->workload.keys = bed->keys;
        scenario->workload.key_bytes = KVC_BED_KEY_BYTES;
        scenario->workload.value_bytes = params->value_bytes;
        scenario->workload.popularity = KVC_POPULARITY_UNIFORM;
        scenario->workload.arrival = KVC_ARRIVAL_SATURATE;
        scenario->workload.preload_frac = 1;
        scenario->workload.get_frac = load == KVC_BED_GETS ? 1 : 0.5;
        scenario->workload.set_frac = 1 - scenario->workload.get_frac;
        scenario->workload.delete_frac = 0;
        scenario->workload.frame_requests =
            frame_requests > 0 ? frame_requests
                               : kvc_bed_frame_requests((enum kvc_bed_load)load, params->value_bytes);
    }
}

/* GETs for every key, about, and SETs that no cache holds, within reason. */
static uint64_t feed_bytes(const struct kvc_bed *bed, enum kvc_bed_load load)
{
    double requests_bytes = (double)bed->keys * (KVC_REQUEST_HEADER_BYTES + KVC_BED_KEY_BYTES);
    double all_bytes =
        load == KVC_BED_MIX ? MIX_BYTES : fmin(fmax(requests_bytes, GETS_BYTES_MIN), GETS_BYTES_MAX);
    return (uint64_t)all_bytes / bed->params.pipelines;
}

static void start_clock(struct kvc_real_node *node)
{
    node->started_s = kvc_clock_wall_s();
    node->until_ns = for_ever_ns;
    for (uint32_t i = 0; i < node->count; i++) {
        node->pipeline[i]->answerer.started_s = node->started_s;
        node->pipeline[i]->answerer.until_ns = for_ever_ns;
    }
}

enum kvc_status kvc_bed_open(struct kvc_bed *bed, const struct kvc_bed_params *params,
                             uint32_t frame_requests, struct kvc_team *team, struct kvc_diag *diag)
{
    memset(bed, 0, sizeof *bed);
    bed->params = *params;
    bed->team = team;
    describe(bed, frame_requests);
    enum kvc_status status = kvc_megakv_store_create(&bed->scenario[KVC_BED_GETS], NULL, &bed->store, diag);
    if (status == KVC_OK && params->on_gpu)
        status = kvc_device_take_index(&bed->scenario[KVC_BED_GETS], &bed->store->shards[0], diag);
    for (int load = 0; status == KVC_OK && load < KVC_BED_LOADS; load++) {
        status = kvc_real_node_open(&bed->node[load], &bed->scenario[load], &bed->store->shards[0],
                                    params->on_gpu, feed_bytes(bed, (enum kvc_bed_load)load), diag);
        start_clock(&bed->node[load]);
    }
    /* the others sleep, as those do that a store leaves alone */
    kvc_team_wake(team, params->shared_cores ? params->cores : 1 + 2 * params->pipelines);
    return status;
}

void kvc_bed_close(struct kvc_bed *bed)
{
    for (int load = 0; load < KVC_BED_LOADS; load++)
        kvc_real_node_close(&bed->node[load]);
    kvc_megakv_store_free(bed->store);
}

/* ---- the tasks of a turn ---- */

static void receive_gets(void *data)
{
    const struct kvc_bed_task *task = data;
    while (task->pipeline->filling->rows < task->rows && kvc_receiver_step(task->pipeline))
        ;
}

static void receive_mix(void *data)
{
    const struct kvc_bed_task *task = data;
    while (task->pipeline->filling->sets < task->rows && kvc_receiver_step(task->pipeline))
        ;
}

static void send(void *data)
{
    const struct kvc_bed_task *task = data;
    while (kvc_sender_step(task->pipeline))
        ;
}

static double since(double *started_s)
{
    double now_s = kvc_clock_wall_s(), seconds = now_s - *started_s;
    *started_s = now_s;
    return seconds;
}

/* Launches what is held. */
static void schedule(void *data)
{
    struct kvc_bed *bed = data;
    const struct kvc_bed_work *held = &bed->held;
    struct kvc_real_node *gets = &bed->node[KVC_BED_GETS], *mix = &bed->node[KVC_BED_MIX];
    double started_s = kvc_clock_wall_s();
    if (held->gets > 0 && held->search != KVC_BED_NO_SEARCH) {
        kvc_search_buffers(gets, bed->held_buffers[KVC_BED_GETS]);
        bed->turn->search_s = since(&started_s);
        bed->turn->search_jobs = held->gets * bed->params.pipelines;
    }
    if (held->sets == 0)
        return;
    for (uint32_t i = 0; i < bed->params.pipelines; i++)
        kvc_take_writes(mix, bed->held_buffers[KVC_BED_MIX][i]);
    bed->turn->take_s = since(&started_s);
    bed->turn->insert_jobs = mix->inserts + mix->erases;
    kvc_insert_waiting(mix);
    bed->turn->insert_s = since(&started_s);
}

/* Adds a task of each pipeline, on its core. */
static void add(struct kvc_bed *bed, kvc_team_fn *fn, enum kvc_bed_load load, uint32_t rows)
{
    uint32_t others = bed->params.cores > 1 ? bed->params.cores - 1 : 1;
    for (uint32_t i = 0; i < bed->params.pipelines; i++) {
        uint32_t sender = bed->params.shared_cores ? 1 + i % others : 1 + 2 * i;
        uint32_t receiver = bed->params.shared_cores ? 0 : sender + 1, core = fn == send ? sender : receiver;
        bed->task[bed->count] = (struct kvc_bed_task){bed->node[load].pipeline[i], rows};
        bed->work[bed->count] = (struct kvc_team_task){
            .fn = fn, .data = &bed->task[bed->count], .core = bed->params.cores > 1 ? core : 0};
        bed->count++;
    }
}

static double mean_s(const struct kvc_bed *bed, kvc_team_fn *fn)
{
    double sum_s = 0;
    uint32_t tasks = 0;
    for (uint32_t i = 0; i < bed->count; i++) {
        if (bed->work[i].fn != fn)
            continue;
        sum_s += bed->work[i].seconds;
        tasks++;
    }
    return tasks > 0 ? sum_s / tasks : 0;
}

static void at_most(uint32_t *count, uint32_t most)
{
    if (*count > most)
        *count = most;
}

static void wait_for_cycle(struct kvc_bed *bed)
{
    while (kvc_clock_wall_s() < bed->launched_s + bed->period_s)
        ;
    bed->launched_s = kvc_clock_wall_s();
}

/* Hashes of no key of the store, but for a few among billions; `half`: of one half of the keys. */
static void make_absent(struct kvc_buffer *buffer, bool half)
{
    for (uint32_t i = 0; i < buffer->gets; i++)
        if (!half || buffer->hash[i] >> 63 != 0)
            buffer->hash[i] = kvc_mix64(buffer->hash[i]);
}

/* What was launched goes on to the senders; a mix is done with. */
static void hand_on(struct kvc_bed *bed)
{
    for (uint32_t i = 0; i < bed->params.pipelines; i++) {
        if (bed->held.gets > 0)
            kvc_ring_push(&bed->node[KVC_BED_GETS].pipeline[i]->ready, bed->held_buffers[KVC_BED_GETS][i]);
        if (bed->held.sets > 0) {
            kvc_buffer_clear(bed->held_buffers[KVC_BED_MIX][i]);
            kvc_ring_push(&bed->node[KVC_BED_MIX].pipeline[i]->free, bed->held_buffers[KVC_BED_MIX][i]);
        }
    }
    bed->answering = bed->held;
}

/* Takes the batch that a pipeline has received. */
static struct kvc_buffer *take(struct kvc_real_pipeline *pipeline)
{
    struct kvc_buffer *buffer = pipeline->filling;
    pipeline->filling = kvc_ring_pop(&pipeline->free);
    if (pipeline->filling == NULL)
        KVC_BUG("no free buffer");
    return buffer;
}

/* What was received waits for the next turn. */
static void hold(struct kvc_bed *bed, const struct kvc_bed_work *work, struct kvc_bed_turn *turn)
{
    bed->held = *work;
    for (uint32_t i = 0; i < bed->params.pipelines && work->gets > 0; i++) {
        struct kvc_buffer *buffer = take(bed->node[KVC_BED_GETS].pipeline[i]);
        turn->gets_rows = buffer->rows;
        at_most(&buffer->gets, work->gets);
        bed->held.gets = buffer->gets; /* of all the same: their frames are alike */
        if (work->search == KVC_BED_NO_SEARCH)
            memset(buffer->location, 0xff, buffer->gets * sizeof(uint32_t)); /* KVC_LOCATION_NONE */
        if (work->search == KVC_BED_ABSENT_KEYS || work->search == KVC_BED_HALF_ABSENT)
            make_absent(buffer, work->search == KVC_BED_HALF_ABSENT);
        bed->held_buffers[KVC_BED_GETS][i] = buffer;
    }
    for (uint32_t i = 0; i < bed->params.pipelines && work->sets > 0; i++) {
        struct kvc_buffer *buffer = take(bed->node[KVC_BED_MIX].pipeline[i]);
        turn->mix_rows = buffer->rows;
        turn->mix_sets = buffer->sets;
        at_most(&buffer->inserts, work->sets);
        at_most(&buffer->erases, work->sets);
        bed->held_buffers[KVC_BED_MIX][i] = buffer;
    }
}

/* Adds what senders missed and receivers passed so far, times `sign`. */
static void count_so_far(const struct kvc_bed *bed, uint64_t sign, struct kvc_bed_turn *turn)
{
    for (uint32_t i = 0; i < bed->params.pipelines; i++) {
        turn->misses += sign * bed->node[KVC_BED_GETS].pipeline[i]->answerer.misses;
        turn->passed += sign * bed->node[KVC_BED_MIX].pipeline[i]->receive_stats.clock_steps;
    }
}

void kvc_bed_turn(struct kvc_bed *bed, const struct kvc_bed_work *work, struct kvc_bed_turn *turn)
{
    *turn = (struct kvc_bed_turn){.send_rows = bed->answering.gets};
    count_so_far(bed, (uint64_t)-1, turn);
    bed->turn = turn;
    bed->count = 0;
    bed->work[bed->count++] = (struct kvc_team_task){.fn = schedule, .data = bed};
    if (work->gets > 0)
        add(bed, receive_gets, KVC_BED_GETS, work->gets);
    if (work->sets > 0)
        add(bed, receive_mix, KVC_BED_MIX, work->sets);
    if (bed->answering.gets > 0)
        add(bed, send, KVC_BED_GETS, bed->answering.gets);
    wait_for_cycle(bed);
    kvc_team_run(bed->team, bed->work, bed->count);
    turn->receive_gets_s = mean_s(bed, receive_gets);
    turn->receive_mix_s = mean_s(bed, receive_mix);
    turn->send_s = mean_s(bed, send);
    for (uint32_t i = 0, sender = 0; i < bed->count; i++)
        if (bed->work[i].fn == send)
            turn->each_send_s[sender++] = bed->work[i].seconds;
    count_so_far(bed, 1, turn);
    hand_on(bed);
    hold(bed, work, turn);
}
