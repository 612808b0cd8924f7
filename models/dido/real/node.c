#include "models/dido/real/node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/dido/plan.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/seeds.h"

/* Largest memory for the values of a batch. Batches of larger values have fewer queries. */
#define VALUES_BYTES_MAX (UINT64_C(64) << 20)

enum { VALUE_ALIGN = 8 };

uint32_t kvc_dido_real_workers(const struct kvc_dido_pipeline *pipeline)
{
    uint32_t workers = 0;
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        workers += kvc_dido_real_stage_workers(&pipeline->stage[s]);
    }
    return workers;
}

static struct kvc_dido_real_batch_shape shape_of(const struct kvc_dido_config *config,
                                                 const struct kvc_workload *workload)
{
    uint32_t value_stride = kvc_workload_value_bytes_max(workload) / VALUE_ALIGN * VALUE_ALIGN + VALUE_ALIGN;
    uint64_t fit = VALUES_BYTES_MAX / value_stride;
    return (struct kvc_dido_real_batch_shape){
        .set_queries = (uint32_t)config->options->steal_set,
        .frame_queries = config->frame_requests,
        .rows = (uint32_t)(fit < KVC_DIDO_BATCH_MAX ? fit : KVC_DIDO_BATCH_MAX) + config->frame_requests,
        .key_stride = kvc_workload_key_stride(workload),
        .value_stride = value_stride,
    };
}

static void open_workers(struct kvc_dido_real_node *node, const struct kvc_dido_real_batch_shape *shape)
{
    for (uint32_t s = 0; s < node->stages; s++) {
        for (uint32_t i = 0; i < kvc_dido_real_stage_workers(&node->stage[s].stage); i++) {
            struct kvc_dido_real_worker *worker = &node->worker[node->workers++];
            uint32_t room = kvc_dido_real_set_most(shape);
            *worker = (struct kvc_dido_real_worker){
                .node = node,
                .stage = &node->stage[s],
                .oldest_sent_ns = INFINITY,
                .latency = kvc_array_of(1, sizeof(*worker->latency)),
                .sent_ns = kvc_array_of(room, sizeof(*worker->sent_ns)),
                .done_ns = kvc_array_of(room, sizeof(*worker->done_ns)),
            };
            kvc_dido_real_bench_open(&worker->bench, &node->store, room);
        }
    }
}

static void open_stages(struct kvc_dido_real_node *node, const struct kvc_dido_pipeline *pipeline)
{
    node->stages = pipeline->stages;
    for (uint32_t s = 0; s < node->stages; s++) {
        node->stage[s].stage = pipeline->stage[s];
        node->stage[s].number = s;
        node->stage[s].out = &node->stage[(s + 1) % node->stages].in;
    }
}

void kvc_dido_real_node_free(struct kvc_dido_real_node *node)
{
    if (node == NULL) {
        return;
    }
    for (uint32_t i = 0; i < node->workers; i++) {
        kvc_dido_real_bench_close(&node->worker[i].bench);
        free(node->worker[i].latency);
        free(node->worker[i].sent_ns);
        free(node->worker[i].done_ns);
    }
    kvc_dido_real_gpu_free(node->gpu);
    for (uint32_t b = 0; b < node->batches; b++) {
        kvc_dido_real_batch_free(node->batch[b]);
    }
    kvc_shards_feed_free(&node->feed);
    free(node);
}

/* Shares the store and the batches with the GPU, if it has a stage. */
static enum kvc_status open_gpu(struct kvc_dido_real_node *node, struct kvc_diag *diag)
{
    for (uint32_t s = 0; s < node->stages; s++) {
        const struct kvc_dido_stage *stage = &node->stage[s].stage;
        if (stage->on_gpu) {
            node->store.reads_on_gpu = kvc_dido_stage_has(stage, KVC_DIDO_RD);
            node->store.responds_on_gpu = kvc_dido_stage_has(stage, KVC_DIDO_WR);
            node->gpu = kvc_dido_real_gpu_create(&node->store, node->batch, node->batches, diag);
            return node->gpu != NULL ? KVC_OK : diag->status;
        }
    }
    return KVC_OK;
}

static struct kvc_dido_real_node *new_node(void)
{
    struct kvc_dido_real_node *node = aligned_alloc(_Alignof(struct kvc_dido_real_node), sizeof(*node));
    if (node == NULL) {
        kvc_out_of_memory("a node");
    }
    memset(node, 0, sizeof(*node));
    return node;
}

struct kvc_dido_real_node *kvc_dido_real_node_create(const struct kvc_scenario *scenario,
                                                     struct kvc_shard *shard, uint64_t feed_bytes,
                                                     struct kvc_diag *diag)
{
    const struct kvc_dido_config *config = kvc_dido_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    struct kvc_dido_real_batch_shape shape = shape_of(config, workload);
    struct kvc_dido_mix mix = kvc_dido_mix_of(config, workload);
    struct kvc_dido_real_node *node = new_node();
    node->store.index = shard->index;
    node->store.slab = shard->slab;
    node->store.hash_seed = kvc_seed_of_hash(kvc_seed_of_replica(scenario->run.seed, 0));
    atomic_flag_clear(&node->store.changing);
    node->saturating = workload->arrival == KVC_ARRIVAL_SATURATE;
    node->interval_ns = kvc_dido_interval_ns(config, &config->pipeline);
    double queries = kvc_dido_plan_of(config, &config->pipeline, &mix).queries;
    atomic_init(&node->batch_queries, node->saturating ? (unsigned)lround(queries) : UINT32_MAX);
    open_stages(node, &config->pipeline);
    open_workers(node, &shape);
    node->batches = node->stages + 1;
    for (uint32_t b = 0; b < node->batches; b++) {
        node->batch[b] = kvc_dido_real_batch_create(&shape);
        kvc_spsc_ring_push(&node->stage[0].in, node->batch[b]);
    }
    if (open_gpu(node, diag) != KVC_OK ||
        kvc_shards_feeds_create(scenario, config->frame_requests, feed_bytes, 1, &node->feed, diag) !=
            KVC_OK) {
        kvc_dido_real_node_free(node);
        return NULL;
    }
    return node;
}

bool kvc_dido_real_node_count(struct kvc_dido_real_node *node)
{
    for (uint32_t i = 0; i < node->workers; i++) {
        if (node->worker[i].stage->stage.on_gpu) {
            return kvc_dido_real_gpu_count(node->gpu, &node->worker[i].bench.counts.index);
        }
    }
    return true;
}

void kvc_dido_real_node_start(struct kvc_dido_real_node *node)
{
    node->started_s = node->ticks_from_s = kvc_clock_wall_s();
    node->ticks_from = kvc_clock_ticks();
}

void kvc_dido_real_node_set_clock(struct kvc_dido_real_node *node, double started_s)
{
    node->started_s = started_s;
}

uint64_t kvc_dido_real_task_ticks(const struct kvc_dido_real_node *node, enum kvc_dido_task task)
{
    uint64_t ticks = 0;
    for (uint32_t i = 0; i < node->workers; i++) {
        ticks += node->worker[i].bench.counts.task_ticks[task];
    }
    return ticks;
}

double kvc_dido_real_tick_ns(const struct kvc_dido_real_node *node)
{
    double run_ns = (kvc_clock_wall_s() - node->ticks_from_s) * 1e9;
    return run_ns / (double)(kvc_clock_ticks() - node->ticks_from);
}
