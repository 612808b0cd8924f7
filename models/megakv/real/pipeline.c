#include "models/megakv/real/pipeline.h"

#include <math.h>
#include <string.h>

#include "sim/base/clock.h"

static double now_ns(const struct kvc_megakv_real_node *node)
{
    return (kvc_clock_wall_s() - node->started_s) * 1e9;
}

/* Adds the part of start_ns .. end_ns that lies within the measured time. The requests count if the work ends
 * in it. */
static void count_work(const struct kvc_megakv_real_node *node, struct kvc_megakv_real_task_time *time,
                       double start_ns, double end_ns, uint64_t requests)
{
    double from_ns = fmax(start_ns, node->from_ns), until_ns = fmin(end_ns, node->until_ns);
    if (until_ns > from_ns) {
        time->busy_ns += until_ns - from_ns;
    }
    if (end_ns >= node->from_ns && end_ns < node->until_ns) {
        time->served += requests;
    }
}

/* ---- receiver ---- */

/* Hands the buffer to the scheduler if it has asked for one and there is a free buffer to continue with. */
static void swap_if_asked(struct kvc_megakv_real_pipeline *pipeline)
{
    if (atomic_load_explicit(&pipeline->swaps_asked, memory_order_acquire) == pipeline->swaps) {
        return;
    }
    struct kvc_megakv_real_buffer *next = kvc_spsc_ring_pop(&pipeline->free);
    if (next == NULL) {
        return;
    }
    kvc_spsc_ring_push(&pipeline->filled, pipeline->filling);
    pipeline->filling = next;
    pipeline->swaps++;
}

double kvc_megakv_real_receiver_step(void *data)
{
    struct kvc_megakv_real_pipeline *pipeline = data;
    const struct kvc_megakv_real_node *node = pipeline->node;
    const struct kvc_shards_feed_frame *frame = &pipeline->feed.frame[pipeline->frame];
    double due_ns = pipeline->lap_ns + frame->sent_ns, start_ns = now_ns(node);
    swap_if_asked(pipeline);
    struct kvc_megakv_real_buffer *buffer = pipeline->filling;
    if (!node->saturating && start_ns < due_ns) {
        pipeline->caught_up = true;
        return 0;
    }
    if (buffer->rows + frame->requests > buffer->room) {
        return 0;
    }
    kvc_megakv_real_receive_frame(buffer, pipeline->feed.bytes + frame->offset, frame->bytes, node->hash_seed,
                                  node->saturating ? start_ns : due_ns, pipeline->writes);
    if (pipeline->writes->count > 0) {
        pipeline->rejected += kvc_megakv_real_receive_writes(buffer, node->shard->slab, pipeline->writes,
                                                             &pipeline->stock, &pipeline->receive_stats);
    }
    double end_ns = now_ns(node);
    count_work(node, &pipeline->receive, start_ns, end_ns, frame->requests);
    pipeline->received += frame->requests;
    if (++pipeline->frame == pipeline->feed.frames) {
        pipeline->frame = 0;
        pipeline->lap_ns += pipeline->feed.span_ns;
    }
    return end_ns;
}

/* ---- scheduler and index ---- */

void kvc_megakv_real_collect_writes(struct kvc_megakv_real_node *node,
                                    const struct kvc_megakv_real_buffer *buffer)
{
    if (node->inserts + buffer->inserts > node->writes_room ||
        node->erases + buffer->erases > node->writes_room) {
        KVC_BUG("more index jobs than the buffers of a node hold");
    }
    memcpy(node->insert_hash + node->inserts, buffer->insert_hash, buffer->inserts * sizeof(uint64_t));
    memcpy(node->insert_location + node->inserts, buffer->insert_location,
           buffer->inserts * sizeof(uint32_t));
    memcpy(node->erase_hash + node->erases, buffer->erase_hash, buffer->erases * sizeof(uint64_t));
    memcpy(node->erase_location + node->erases, buffer->erase_location, buffer->erases * sizeof(uint32_t));
    node->inserts += buffer->inserts;
    node->erases += buffer->erases;
}

void kvc_megakv_real_search_buffers(struct kvc_megakv_real_node *node,
                                    struct kvc_megakv_real_buffer **buffers)
{
    double start_ns = now_ns(node);
    uint64_t gets = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        kvc_megakv_real_device_search_begin(node->queues, i, node->shard, buffers[i]->hash, buffers[i]->gets,
                                            buffers[i]->location);
    }
    for (uint32_t i = 0; i < node->count; i++) {
        kvc_megakv_real_collect_writes(node, buffers[i]);
        gets += buffers[i]->gets;
    }
    if (!kvc_megakv_real_device_search_end(node->queues)) {
        atomic_store(&node->failed, true);
    }
    double end_ns = now_ns(node);
    if (gets == 0) {
        return;
    }
    count_work(node, &node->search, start_ns, end_ns, gets);
    node->search_launches += end_ns >= node->from_ns && end_ns < node->until_ns;
}

void kvc_megakv_real_insert_waiting(struct kvc_megakv_real_node *node)
{
    struct kvc_shard *shard = node->shard;
    double start_ns = now_ns(node);
    if (node->inserts + node->erases == 0) {
        return;
    }
    kvc_index_erase(shard->index, node->erase_hash, node->erase_location, node->erases, node->erased,
                    &shard->index_stats);
    for (uint32_t i = 0; i < node->erases; i++) {
        if (node->erase_location[i] == KVC_LOCATION_ANY && node->erased[i] != KVC_LOCATION_NONE) {
            kvc_megakv_slab_release_key(shard->slab, node->erased[i], node->erase_hash[i]);
        }
    }
    kvc_index_insert(shard->index, node->insert_hash, node->insert_location, node->inserts, NULL,
                     &shard->index_stats);
    double end_ns = now_ns(node);
    count_work(node, &node->insert, start_ns, end_ns, node->inserts + node->erases);
    node->insert_launches += end_ns >= node->from_ns && end_ns < node->until_ns;
    node->inserts = node->erases = 0;
}

/* Runs a launch. Returns the time at which it ends [ns]. */
static double launch(struct kvc_megakv_real_node *node)
{
    double launched_ns = now_ns(node);
    if (launched_ns >= node->from_ns && launched_ns < node->until_ns) {
        node->late_launches += launched_ns - node->due_ns > 0.1 * node->cycle_ns;
    }
    /* A launch that is a little late does not delay the next ones. */
    if (launched_ns - node->due_ns >= node->cycle_ns) {
        node->due_ns = launched_ns;
    }
    node->due_ns += node->cycle_ns;
    kvc_megakv_real_search_buffers(node, node->buffers);
    for (uint32_t i = 0; i < node->count; i++) {
        node->handed_rows += node->buffers[i]->rows;
        kvc_spsc_ring_push(&node->pipeline[i]->ready, node->buffers[i]);
    }
    if (++node->cycle % node->delay == 0) {
        kvc_megakv_real_insert_waiting(node);
    }
    /* Receivers on the scheduler's core had no time during the launch. If the next cycle is due already, it
     * starts a whole cycle from now and leaves them that time. */
    double end_ns = now_ns(node);
    node->overran = node->shared && end_ns >= node->due_ns;
    node->due_ns = node->overran ? end_ns + node->cycle_ns : node->due_ns;
    return end_ns;
}

/* Returns whether a launch after one that took longer than a cycle waits: the senders have more rows before
 * them than the receivers have collected, and no buffer is full. */
static bool waits_for_senders(const struct kvc_megakv_real_node *node)
{
    uint64_t left = node->handed_rows, collected = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        const struct kvc_megakv_real_pipeline *pipeline = node->pipeline[i];
        left -= atomic_load_explicit(&pipeline->sent_rows, memory_order_relaxed);
        collected += pipeline->filling->rows;
        if (pipeline->filling->rows + pipeline->feed.frame[pipeline->frame].requests >
            pipeline->filling->room) {
            return false;
        }
    }
    return collected < left;
}

double kvc_megakv_real_scheduler_step(void *data)
{
    struct kvc_megakv_real_node *node = data;
    if (!node->collecting) {
        if (now_ns(node) < node->due_ns || (node->overran && waits_for_senders(node))) {
            return 0;
        }
        for (uint32_t i = 0; i < node->count; i++) {
            atomic_fetch_add_explicit(&node->pipeline[i]->swaps_asked, 1, memory_order_release);
        }
        node->collecting = true;
        node->collected = 0;
    }
    while (node->collected < node->count) {
        struct kvc_megakv_real_buffer *buffer = kvc_spsc_ring_pop(&node->pipeline[node->collected]->filled);
        if (buffer == NULL) {
            return 0;
        }
        node->buffers[node->collected++] = buffer;
    }
    node->collecting = false;
    return launch(node);
}

/* ---- sender ---- */

static void finish(struct kvc_megakv_real_pipeline *pipeline)
{
    atomic_fetch_add_explicit(&pipeline->sent_rows, pipeline->sending->rows, memory_order_relaxed);
    kvc_megakv_real_buffer_clear(pipeline->sending);
    kvc_spsc_ring_push(&pipeline->free, pipeline->sending);
    pipeline->sending = NULL;
}

double kvc_megakv_real_sender_step(void *data)
{
    struct kvc_megakv_real_pipeline *pipeline = data;
    struct kvc_megakv_real_answerer *answerer = &pipeline->answerer;
    if (pipeline->sending == NULL) {
        pipeline->sending = kvc_spsc_ring_pop(&pipeline->ready);
        pipeline->sent = 0;
        if (pipeline->sending == NULL) {
            return 0;
        }
    }
    const struct kvc_megakv_real_buffer *buffer = pipeline->sending;
    double start_ns = now_ns(pipeline->node), end_ns = start_ns;
    uint32_t left = buffer->gets - pipeline->sent, rows = left;
    if (left > 0) {
        rows = left < answerer->rows_max ? left : answerer->rows_max;
        end_ns = kvc_megakv_real_answer_gets(answerer, buffer, pipeline->sent, rows);
        pipeline->sent += rows;
    }
    if (rows == left) {
        kvc_megakv_real_answer_writes(answerer, buffer, end_ns);
        rows += buffer->sets + buffer->deletes;
        finish(pipeline);
    }
    end_ns = now_ns(pipeline->node);
    count_work(pipeline->node, &pipeline->send, start_ns, end_ns, rows);
    return end_ns;
}
