#include "models/megakv/real/node.h"

#include <stdlib.h>
#include <string.h>

#include "models/megakv/config.h"
#include "sim/base/clock.h"
#include "sim/base/seeds.h"

static bool open_pipeline(struct kvc_megakv_real_node *node, const struct kvc_scenario *scenario,
                          uint32_t number, uint32_t buffers)
{
    uint32_t key_stride = kvc_workload_key_stride(&scenario->workload);
    struct kvc_megakv_real_pipeline *pipeline =
        aligned_alloc(_Alignof(struct kvc_megakv_real_pipeline), sizeof(*pipeline));
    node->pipeline[number] = pipeline;
    if (pipeline == NULL) {
        return false;
    }
    memset(pipeline, 0, sizeof(*pipeline));
    pipeline->node = node;
    pipeline->writes = kvc_megakv_real_frame_writes_create(key_stride);
    if (pipeline->writes == NULL ||
        !kvc_megakv_real_answerer_open(&pipeline->answerer, node->shard->slab,
                                       kvc_workload_value_bytes_max(&scenario->workload))) {
        return false;
    }
    pipeline->answerer.time_writes = scenario->workload.get_frac <= 0;
    pipeline->answerer.compare = kvc_megakv_config_of(scenario)->api == KVC_MEGAKV_GET;
    for (uint32_t b = 0; b < buffers; b++) {
        if (!kvc_megakv_real_buffer_open(&pipeline->buffers[b], KVC_MEGAKV_ROWS_MAX, key_stride,
                                         node->on_gpu)) {
            return false;
        }
        if (b == 0) {
            pipeline->filling = &pipeline->buffers[0];
        } else {
            kvc_spsc_ring_push(&pipeline->free, &pipeline->buffers[b]);
        }
    }
    return true;
}

static bool open_jobs(struct kvc_megakv_real_node *node)
{
    size_t room = 2 * (size_t)KVC_MEGAKV_ROWS_MAX * node->count * node->delay;
    node->writes_room = (uint32_t)room;
    node->insert_hash = kvc_megakv_real_device_array(node->on_gpu, room * sizeof(uint64_t));
    node->insert_location = kvc_megakv_real_device_array(node->on_gpu, room * sizeof(uint32_t));
    node->erase_hash = kvc_megakv_real_device_array(node->on_gpu, room * sizeof(uint64_t));
    node->erase_location = kvc_megakv_real_device_array(node->on_gpu, room * sizeof(uint32_t));
    node->erased = kvc_megakv_real_device_array(node->on_gpu, room * sizeof(uint32_t));
    return node->insert_hash != NULL && node->insert_location != NULL && node->erase_hash != NULL &&
           node->erase_location != NULL && node->erased != NULL;
}

static enum kvc_status open_feeds(struct kvc_megakv_real_node *node, const struct kvc_scenario *scenario,
                                  uint64_t feed_bytes, struct kvc_diag *diag)
{
    struct kvc_shards_feed feeds[KVC_MEGAKV_REAL_PIPELINES_MAX];
    uint32_t asked = kvc_megakv_config_of(scenario)->frame_requests;
    uint32_t frame_requests =
        asked < KVC_MEGAKV_REAL_FRAME_REQUESTS_MAX ? asked : KVC_MEGAKV_REAL_FRAME_REQUESTS_MAX;
    enum kvc_status status =
        kvc_shards_feeds_create(scenario, frame_requests, feed_bytes, node->count, feeds, diag);
    for (uint32_t i = 0; status == KVC_OK && i < node->count; i++) {
        node->pipeline[i]->feed = feeds[i];
    }
    return status;
}

enum kvc_status kvc_megakv_real_node_open(struct kvc_megakv_real_node *node,
                                          const struct kvc_scenario *scenario, struct kvc_shard *shard,
                                          bool on_gpu, uint64_t feed_bytes, struct kvc_diag *diag)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    memset(node, 0, sizeof(*node));
    node->shard = shard;
    node->on_gpu = on_gpu;
    node->hash_seed = kvc_seed_of_hash(kvc_seed_of_replica(scenario->run.seed, 0));
    node->cycle_ns = node->due_ns = config->cycle_ns;
    node->delay = config->delay;
    node->count =
        (config->streams < KVC_MEGAKV_REAL_PIPELINES_MAX ? config->streams : KVC_MEGAKV_REAL_PIPELINES_MAX);
    node->saturating = scenario->workload.arrival == KVC_ARRIVAL_SATURATE;
    node->queues = kvc_megakv_real_device_queues_create(on_gpu, node->count);
    bool opened = node->queues != NULL && open_jobs(node);
    for (uint32_t i = 0; opened && i < node->count; i++) {
        opened = open_pipeline(node, scenario, i, config->buffers);
    }
    if (!opened) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %u pipelines", node->count);
    }
    return open_feeds(node, scenario, feed_bytes, diag);
}

void kvc_megakv_real_node_close(struct kvc_megakv_real_node *node)
{
    for (uint32_t i = 0; i < node->count; i++) {
        struct kvc_megakv_real_pipeline *pipeline = node->pipeline[i];
        if (pipeline == NULL) {
            continue;
        }
        for (int b = 0; b < KVC_MEGAKV_REAL_BUFFERS_MAX; b++) {
            kvc_megakv_real_buffer_close(&pipeline->buffers[b]);
        }
        kvc_shards_feed_free(&pipeline->feed);
        kvc_megakv_real_answerer_close(&pipeline->answerer);
        free(pipeline->writes);
        free(pipeline);
    }
    kvc_megakv_real_device_queues_free(node->queues);
    kvc_megakv_real_device_array_free(node->on_gpu, node->insert_hash);
    kvc_megakv_real_device_array_free(node->on_gpu, node->insert_location);
    kvc_megakv_real_device_array_free(node->on_gpu, node->erase_hash);
    kvc_megakv_real_device_array_free(node->on_gpu, node->erase_location);
    kvc_megakv_real_device_array_free(node->on_gpu, node->erased);
}

void kvc_megakv_real_node_start(struct kvc_megakv_real_node *node, double from_ns, double until_ns)
{
    node->from_ns = from_ns;
    node->until_ns = until_ns;
    for (uint32_t i = 0; i < node->count; i++) {
        node->pipeline[i]->answerer.from_ns = from_ns;
        node->pipeline[i]->answerer.until_ns = until_ns;
    }
    kvc_megakv_real_node_set_clock(node, kvc_clock_wall_s());
}

void kvc_megakv_real_node_set_clock(struct kvc_megakv_real_node *node, double started_s)
{
    node->started_s = started_s;
    for (uint32_t i = 0; i < node->count; i++) {
        node->pipeline[i]->answerer.started_s = started_s;
    }
}
