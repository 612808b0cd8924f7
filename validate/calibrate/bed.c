#include "validate/calibrate/bed.h"

#include <math.h>
#include <string.h>

#include "sim/base/clock.h"
#include "sim/base/rng.h"

enum {
    KEY_BYTES = 8,
    FRAME_BYTES = 1472, /* of requests, in a basic Ethernet frame */
    /* of all packets */
    SETS_BYTES = 256 << 20,
    GETS_BYTES_MIN = 64 << 20,
    GETS_BYTES_MAX = 512 << 20,
};

/* Cells of the index for each key, about: it is between 0.38 and 0.75 full, a power of two as it is. */
static const double cells_per_key = 1 / 0.75;

static const double for_ever_ns = 1e18;

uint32_t kvc_bed_item_bytes(uint32_t value_bytes)
{
    return KVC_SLAB_HEADER_BYTES + KEY_BYTES + value_bytes;
}

uint32_t kvc_bed_frame_requests(enum kvc_bed_load load, uint32_t value_bytes)
{
    uint32_t bytes = KVC_REQUEST_HEADER_BYTES + KEY_BYTES + (load == KVC_BED_MIX ? value_bytes / 2 : 0);
    return FRAME_BYTES > bytes ? FRAME_BYTES / bytes : 1;
}

static void describe(struct kvc_bed *bed, uint32_t frame_requests)
{
    const struct kvc_bed_params *params = &bed->params;
    uint32_t item_bytes = kvc_slab_item_bytes(KEY_BYTES, params->value_bytes);
    kvc_options_set_defaults(&kvc_megakv_options, &bed->system);
    bed->keys = (uint64_t)(params->slab_bytes / item_bytes);
    bed->index_bytes = exp2(ceil(log2((double)bed->keys * 8 * cells_per_key)));
    bed->system.streams = params->pipelines;
    bed->system.slab_bytes = params->slab_bytes;
    bed->system.index_bytes = bed->index_bytes;
    for (int load = 0; load < KVC_BED_LOADS; load++) {
        struct kvc_scenario *scenario = &bed->scenario[load];
        kvc_options_set_defaults(&kvc_workload_options, &scenario->workload);
        scenario->system = &bed->system;
        scenario->node.sockets = scenario->cluster.nodes = 1;
        scenario->run = (struct kvc_run){.functional = KVC_FUNCTIONAL_FULL, .seed = 1, .replicas = 1};
        scenario->workload.keys = bed->keys;
        scenario->workload.key_bytes = KEY_BYTES;
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
    double requests_bytes = (double)bed->keys * (KVC_REQUEST_HEADER_BYTES + KEY_BYTES);
    double all_bytes =
        load == KVC_BED_MIX ? SETS_BYTES : fmin(fmax(requests_bytes, GETS_BYTES_MIN), GETS_BYTES_MAX);
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
    return status;
}

void kvc_bed_close(struct kvc_bed *bed)
{
    for (int load = 0; load < KVC_BED_LOADS; load++)
        kvc_real_node_close(&bed->node[load]);
    kvc_megakv_store_free(bed->store);
}

/* ---- the tasks of a turn ---- */

struct task {
    struct kvc_real_pipeline *pipeline;
    uint32_t rows;
};

static void receive(void *data)
{
    const struct task *task = data;
    while (task->pipeline->filling->rows < task->rows && kvc_receiver_step(task->pipeline))
        ;
}

static void receive_sets(void *data)
{
    const struct task *task = data;
    while (task->pipeline->filling->sets < task->rows && kvc_receiver_step(task->pipeline))
        ;
}

static void send(void *data)
{
    const struct task *task = data;
    while (kvc_sender_step(task->pipeline))
        ;
}

/* Runs a task of the first `pipelines` pipelines, each on its core. */
static double run(struct kvc_bed *bed, kvc_team_fn *fn, enum kvc_bed_load load, uint32_t pipelines,
                  uint32_t rows)
{
    struct task task[KVC_PIPELINES_MAX] = {0};
    void *data[KVC_PIPELINES_MAX] = {0};
    uint32_t core[KVC_PIPELINES_MAX] = {0}, others = bed->params.cores > 1 ? bed->params.cores - 1 : 1;
    for (uint32_t i = 0; i < pipelines; i++) {
        task[i] = (struct task){bed->node[load].pipeline[i], rows};
        data[i] = &task[i];
        bool sending = fn == send;
        uint32_t sender = bed->params.shared_cores ? 1 + i % others : 1 + 2 * i;
        uint32_t receiver = bed->params.shared_cores ? 0 : sender + 1;
        core[i] = bed->params.cores > 1 ? (sending ? sender : receiver) : 0;
    }
    return kvc_team_run(bed->team, fn, core, data, pipelines);
}

static void at_most(uint32_t *count, uint32_t most)
{
    if (*count > most)
        *count = most;
}

static void launch(struct kvc_real_node *node, uint32_t pipelines, struct kvc_buffer **buffers)
{
    uint32_t count = node->count;
    node->count = pipelines;
    kvc_search_buffers(node, buffers);
    node->count = count;
}

/* Until the next launch is due; returns when that is. */
static double wait_for_cycle(struct kvc_bed *bed)
{
    double now_s = kvc_clock_wall_s();
    while (now_s < bed->launched_s + bed->period_s)
        now_s = kvc_clock_wall_s();
    bed->launched_s = now_s;
    return now_s;
}

/* Hashes of no key of the store, but for a few among billions. */
static void make_absent(struct kvc_buffer *buffer)
{
    for (uint32_t i = 0; i < buffer->gets; i++)
        buffer->hash[i] = kvc_mix64(buffer->hash[i]);
}

void kvc_bed_gets(struct kvc_bed *bed, uint32_t pipelines, uint32_t rows, enum kvc_bed_search search,
                  struct kvc_bed_turn *turn)
{
    struct kvc_real_node *node = &bed->node[KVC_BED_GETS];
    struct kvc_buffer *buffers[KVC_PIPELINES_MAX];
    *turn = (struct kvc_bed_turn){.receive_s = run(bed, receive, KVC_BED_GETS, pipelines, rows),
                                  .rows = node->pipeline[0]->filling->rows,
                                  .jobs = pipelines * rows};
    for (uint32_t i = 0; i < pipelines; i++) {
        buffers[i] = node->pipeline[i]->filling;
        at_most(&buffers[i]->gets, rows);
        turn->misses -= node->pipeline[i]->answerer.misses;
        if (search == KVC_BED_NO_SEARCH)
            memset(buffers[i]->location, 0xff, rows * sizeof(uint32_t)); /* KVC_LOCATION_NONE */
        if (search == KVC_BED_ABSENT_KEYS)
            make_absent(buffers[i]);
    }
    double started_s = wait_for_cycle(bed);
    if (search != KVC_BED_NO_SEARCH)
        launch(node, pipelines, buffers);
    turn->search_s = kvc_clock_wall_s() - started_s;
    for (uint32_t i = 0; i < pipelines; i++) {
        kvc_ring_push(&node->pipeline[i]->ready, buffers[i]);
        node->pipeline[i]->filling = kvc_ring_pop(&node->pipeline[i]->free);
    }
    turn->send_s = run(bed, send, KVC_BED_GETS, pipelines, rows);
    for (uint32_t i = 0; i < pipelines; i++)
        turn->misses += node->pipeline[i]->answerer.misses;
}

void kvc_bed_mix(struct kvc_bed *bed, uint32_t pipelines, uint32_t sets, struct kvc_bed_turn *turn)
{
    struct kvc_real_node *node = &bed->node[KVC_BED_MIX];
    struct kvc_buffer *buffers[KVC_PIPELINES_MAX];
    *turn = (struct kvc_bed_turn){.receive_s = run(bed, receive_sets, KVC_BED_MIX, pipelines, sets),
                                  .rows = node->pipeline[0]->filling->rows,
                                  .sets = node->pipeline[0]->filling->sets};
    for (uint32_t i = 0; i < pipelines; i++) {
        buffers[i] = node->pipeline[i]->filling;
        at_most(&buffers[i]->inserts, sets);
        at_most(&buffers[i]->erases, sets);
        buffers[i]->gets = 0;
    }
    launch(node, pipelines, buffers);
    turn->jobs = node->inserts + node->erases;
    double started_s = wait_for_cycle(bed);
    kvc_insert_waiting(node);
    turn->insert_s = kvc_clock_wall_s() - started_s;
    for (uint32_t i = 0; i < pipelines; i++)
        kvc_buffer_clear(buffers[i]);
}
