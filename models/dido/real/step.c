#include <math.h>

#include "models/dido/real/node.h"
#include "sim/base/clock.h"

static double now_ns(const struct kvc_dido_real_node *node)
{
    return (kvc_clock_wall_s() - node->started_s) * 1e9;
}

/* A thread that does nothing for this time was kept from running [ns]. Sets take microseconds, and an idle
 * thread polls for work all the time. */
static const double gap_ns = 100e3;

/* Records the time at which a worker resumed after it was kept from running. */
static void check_gap(struct kvc_dido_real_worker *worker, double at_ns)
{
    unsigned long long seen_ns = atomic_load_explicit(&worker->seen_ns, memory_order_relaxed);
    if (at_ns - (double)seen_ns > gap_ns) {
        atomic_store_explicit(&worker->node->disturbed_ns, (unsigned long long)at_ns, memory_order_relaxed);
    }
    atomic_store_explicit(&worker->seen_ns, (unsigned long long)at_ns, memory_order_relaxed);
}

/* ---- RV ---- */

/* Moves the frames that are due from the feed to an empty batch. */
static void receive(struct kvc_dido_real_node *node, struct kvc_dido_real_batch *batch, double start_ns)
{
    uint32_t queries = atomic_load_explicit(&node->batch_queries, memory_order_relaxed);
    uint32_t room = batch->shape.rows - batch->shape.frame_queries;
    uint32_t most = queries < room ? queries : room;
    kvc_dido_real_batch_clear(batch);
    batch->began_ns = start_ns;
    while (batch->rows < most) {
        const struct kvc_shards_feed_frame *frame = &node->feed.frame[node->next_frame];
        double sent_ns = node->saturating ? start_ns : node->lap_ns + frame->sent_ns;
        if (sent_ns > start_ns) {
            break;
        }
        kvc_dido_real_batch_add(batch, &(struct kvc_dido_real_frame){.at = node->feed.bytes + frame->offset,
                                                                     .bytes = frame->bytes,
                                                                     .requests = frame->requests,
                                                                     .sent_ns = sent_ns});
        if (++node->next_frame == node->feed.frames) {
            node->next_frame = 0;
            node->lap_ns += node->feed.span_ns;
        }
    }
    node->received += batch->rows;
    node->due_ns = start_ns + node->interval_ns;
}

/* Returns whether RV has filled the batch. */
static bool fill(struct kvc_dido_real_worker *worker, struct kvc_dido_real_batch *batch, double start_ns)
{
    struct kvc_dido_real_node *node = worker->node;
    uint64_t before = kvc_clock_ticks();
    if (!node->saturating && start_ns < node->due_ns) {
        return false;
    }
    receive(node, batch, start_ns);
    worker->bench.counts.task_ticks[KVC_DIDO_RV] += kvc_clock_ticks() - before;
    worker->caught_up = worker->caught_up || batch->rows < batch->shape.rows - batch->shape.frame_queries;
    return batch->rows > 0;
}

/* ---- batches ---- */

/* Opens the next batch of the worker's stage, if there is one and no other worker opens it. */
static double open_batch(struct kvc_dido_real_worker *worker)
{
    struct kvc_dido_real_stage *stage = worker->stage;
    if (atomic_load_explicit(&stage->occupied, memory_order_relaxed) ||
        atomic_exchange_explicit(&stage->occupied, true, memory_order_acquire)) {
        return 0;
    }
    struct kvc_dido_real_batch *batch = stage->batch != NULL ? stage->batch : kvc_spsc_ring_pop(&stage->in);
    double start_ns = now_ns(worker->node);
    stage->batch = batch;
    if (batch == NULL || (stage->number == 0 && !fill(worker, batch, start_ns))) {
        atomic_store_explicit(&stage->occupied, false, memory_order_release);
        return 0;
    }
    batch->stage_began_ns = start_ns;
    atomic_store_explicit(&stage->sets_done, 0, memory_order_relaxed);
    atomic_store_explicit(&stage->ticket, (unsigned long long)batch->sets << 32, memory_order_release);
    double end_ns = now_ns(worker->node);
    worker->busy_ns += end_ns - start_ns;
    return end_ns;
}

/* Returns whether a thread is kept from running. */
static bool is_thread_away(const struct kvc_dido_real_node *node, double at_ns)
{
    for (uint32_t i = 0; i < node->workers; i++) {
        unsigned long long seen_ns = atomic_load_explicit(&node->worker[i].seen_ns, memory_order_relaxed);
        if (at_ns - (double)seen_ns > gap_ns) {
            return true;
        }
    }
    return false;
}

/* Counts the batch and the time since the one before if no thread was kept from running since both began. */
static void count_undisturbed(struct kvc_dido_real_node *node, const struct kvc_dido_real_batch *batch,
                              double end_ns)
{
    double disturbed_ns = (double)atomic_load_explicit(&node->disturbed_ns, memory_order_relaxed);
    bool undisturbed = batch->began_ns > disturbed_ns && !is_thread_away(node, end_ns);
    if (undisturbed && node->was_undisturbed) {
        node->undisturbed_queries += batch->rows;
        node->undisturbed_ns += end_ns - node->finished_ns;
    }
    node->was_undisturbed = undisturbed;
    node->finished_ns = end_ns;
}

/* Called by the last worker on a batch. */
static void finish(struct kvc_dido_real_worker *worker, const struct kvc_dido_real_batch *batch,
                   double end_ns)
{
    struct kvc_dido_real_node *node = worker->node;
    worker->batches++;
    worker->batch_queries += batch->rows;
    worker->period_ns += batch->slowest_ns;
    count_undisturbed(node, batch, end_ns);
    if (node->saturating) {
        unsigned now = atomic_load_explicit(&node->batch_queries, memory_order_relaxed);
        double next = kvc_dido_next_batch(node->interval_ns, now, batch->rows, batch->slowest_ns);
        atomic_store_explicit(&node->batch_queries, (unsigned)lround(next), memory_order_relaxed);
    }
}

/* Hands the batch on. The stage is free as soon as the batch has left it. */
static void hand_on(struct kvc_dido_real_worker *worker, double end_ns)
{
    struct kvc_dido_real_stage *stage = worker->stage;
    struct kvc_dido_real_batch *batch = stage->batch;
    batch->slowest_ns = fmax(batch->slowest_ns, end_ns - batch->stage_began_ns);
    if (stage->number + 1 == worker->node->stages) {
        finish(worker, batch, end_ns);
    }
    stage->batch = NULL;
    kvc_spsc_ring_push(stage->out, batch);
    atomic_store_explicit(&stage->occupied, false, memory_order_release);
}

/* ---- sets ---- */

/* Takes a set of the stage's batch. Returns false if all are taken. */
static bool take_set(struct kvc_dido_real_stage *stage, uint32_t *set)
{
    unsigned long long ticket = atomic_load_explicit(&stage->ticket, memory_order_relaxed);
    do {
        if ((uint32_t)ticket >= ticket >> 32) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&stage->ticket, &ticket, ticket + 1, memory_order_acquire,
                                                    memory_order_relaxed));
    *set = (uint32_t)ticket;
    return true;
}

/* Counts the queries of a set that SD has answered. */
static void answer(struct kvc_dido_real_worker *worker, const struct kvc_dido_real_batch *batch,
                   const struct kvc_dido_real_set *set, double end_ns)
{
    uint32_t count = 0;
    for (uint32_t f = set->first_frame; f < set->first_frame + set->frames; f++) {
        const struct kvc_dido_real_frame *frame = &batch->frame[f];
        worker->oldest_sent_ns = fmin(worker->oldest_sent_ns, frame->sent_ns);
        for (uint32_t i = 0; i < frame->requests; i++) {
            worker->sent_ns[count] = frame->sent_ns;
            worker->done_ns[count++] = end_ns;
        }
    }
    kvc_histogram_record(worker->latency, worker->sent_ns, worker->done_ns, count);
}

/* ---- the GPU ---- */

static double fail(struct kvc_dido_real_node *node)
{
    atomic_store(&node->failed, true);
    return 0;
}

/* Gives the stage's next batch to the GPU, if there is one. */
static double launch(struct kvc_dido_real_worker *worker)
{
    struct kvc_dido_real_stage *stage = worker->stage;
    double start_ns = open_batch(worker);
    if (start_ns == 0) {
        return 0;
    }
    worker->launched_ns = start_ns;
    return kvc_dido_real_gpu_begin(worker->node->gpu, stage->batch, &stage->stage) ? now_ns(worker->node)
                                                                                   : fail(worker->node);
}

/* Polls the batch on the GPU, and hands it on if it is done. */
static double complete(struct kvc_dido_real_worker *worker, double at_ns)
{
    struct kvc_dido_real_node *node = worker->node;
    struct kvc_dido_real_stage *stage = worker->stage;
    enum kvc_dido_real_gpu_state state = kvc_dido_real_gpu_ask(node->gpu);
    if (state != KVC_DIDO_REAL_GPU_DONE) {
        return state == KVC_DIDO_REAL_GPU_BUSY ? at_ns : fail(node);
    }
    kvc_dido_real_gpu_end(node->gpu, stage->batch, &stage->stage);
    double end_ns = now_ns(node);
    worker->busy_ns += end_ns - worker->launched_ns;
    worker->served += stage->batch->rows;
    worker->sets += stage->batch->sets;
    worker->launched_ns = 0;
    hand_on(worker, end_ns);
    return end_ns;
}

static double step_gpu(struct kvc_dido_real_worker *worker)
{
    double start_ns = now_ns(worker->node);
    check_gap(worker, start_ns);
    if (atomic_load_explicit(&worker->node->failed, memory_order_relaxed)) {
        return 0;
    }
    return worker->launched_ns > 0 ? complete(worker, start_ns) : launch(worker);
}

double kvc_dido_real_step(void *data)
{
    struct kvc_dido_real_worker *worker = data;
    if (worker->stage->stage.on_gpu) {
        return step_gpu(worker);
    }
    struct kvc_dido_real_node *node = worker->node;
    struct kvc_dido_real_stage *stage = worker->stage;
    uint32_t number;
    double start_ns = now_ns(node);
    check_gap(worker, start_ns);
    if (!take_set(stage, &number)) {
        return open_batch(worker);
    }
    struct kvc_dido_real_batch *batch = stage->batch;
    const struct kvc_dido_real_set *set = &batch->set[number];
    uint32_t sets = batch->sets;
    kvc_dido_real_work(&worker->bench, batch, number, &stage->stage);
    double end_ns = now_ns(node);
    check_gap(worker, end_ns);
    worker->busy_ns += end_ns - start_ns;
    worker->served += set->rows;
    worker->sets++;
    if (kvc_dido_stage_has(&stage->stage, KVC_DIDO_SD)) {
        answer(worker, batch, set, end_ns);
    }
    if (atomic_fetch_add_explicit(&stage->sets_done, 1, memory_order_acq_rel) + 1 == sets) {
        hand_on(worker, end_ns);
    }
    return end_ns;
}
