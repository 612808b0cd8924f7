#include "sim/run/stage_graph.h"

#include <math.h>

static void wake(struct kvc_stage_worker *worker)
{
    if (worker->idles) {
        worker->idles = false;
        kvc_gate_post(worker->gate);
    }
}

/* Tells a worker that it has a batch of its own. */
static void call(struct kvc_stage_worker *worker)
{
    worker->called = true;
    wake(worker);
}

static bool may_steal(const struct kvc_stage_worker *victim, const struct kvc_stage_worker *thief)
{
    const struct kvc_stage_graph_ops *ops = victim->graph->ops;
    return ops->may_steal != NULL && thief != victim && thief->processor != UINT32_MAX &&
           thief->processor != victim->processor && victim->batch != NULL && victim->left > 0 &&
           ops->may_steal(victim->graph->data, victim->batch, victim->number, thief->processor);
}

/* Returns whether anyone may take units of the worker's batch. */
static bool is_shared(const struct kvc_stage_worker *worker)
{
    const struct kvc_stage_graph *graph = worker->graph;
    for (uint32_t i = 0; i < graph->workers; i++) {
        if (may_steal(worker, &graph->worker[i])) {
            return true;
        }
    }
    return false;
}

/* Takes units of a worker's batch from those that are left. */
static uint32_t claim(struct kvc_stage_worker *worker)
{
    uint32_t units = is_shared(worker) ? (worker->left + KVC_STAGE_GRAPH_PIECES - 1) / KVC_STAGE_GRAPH_PIECES
                                       : worker->left;
    worker->left -= units;
    return units;
}

static void approach(const struct kvc_stage_worker *owner, uint32_t processor)
{
    const struct kvc_stage_graph *graph = owner->graph;
    double ns = graph->ops->approach_ns(graph->data, owner->batch, owner->number, processor);
    if (ns > 0) {
        kvc_engine_sleep_until_ns(kvc_engine_now_ns() + ns);
    }
}

/* Does a piece of the owner's batch. */
static void work(const struct kvc_stage_worker *owner, const struct kvc_stage_worker *by,
                 enum kvc_stage_piece piece, uint32_t units)
{
    const struct kvc_stage_graph *graph = owner->graph;
    struct kvc_draw draw[KVC_DRAWS_MAX] = {{0}};
    double start_ns = kvc_engine_now_ns();
    graph->ops->take(graph->data, owner->batch, owner->number, piece, by->number, units, draw);
    kvc_engine_work(draw, KVC_DRAWS_MAX);
    graph->ops->worked(graph->data, owner->batch, owner->number, piece, by->number, units, start_ns);
}

/* ---- the owner's batch ---- */

/* Does the rest of the units that others have taken, and waits for those that they still have. */
static void collect(struct kvc_stage_worker *worker)
{
    while (worker->stolen > 0 || worker->rest > 0) {
        uint32_t units = worker->rest;
        if (units > 0) {
            worker->rest = 0;
            work(worker, worker, KVC_PIECE_REST, units);
        } else {
            kvc_gate_wait(worker->returned);
        }
    }
}

static void hand_on(struct kvc_stage_worker *worker, void *batch)
{
    struct kvc_stage_graph *graph = worker->graph;
    if (worker->number + 1 < graph->ops->stages(batch)) {
        kvc_ring_push(&worker[1].queue, (uintptr_t)batch, 0);
        call(&worker[1]);
    } else {
        graph->ops->done(graph->data, batch);
        call(&graph->worker[0]);
    }
}

static void serve(struct kvc_stage_worker *worker, void *batch)
{
    struct kvc_stage_graph *graph = worker->graph;
    double start_ns = kvc_engine_now_ns();
    worker->processor = graph->ops->processor(batch, worker->number);
    worker->left = graph->ops->begin(graph->data, batch, worker->number);
    worker->batch = batch;
    worker->begun++;
    for (uint32_t i = 0; i < graph->workers; i++) {
        if (may_steal(worker, &graph->worker[i])) {
            wake(&graph->worker[i]);
        }
    }
    approach(worker, worker->processor);
    while (worker->left > 0) {
        uint32_t units = claim(worker);
        work(worker, worker, KVC_PIECE_WHOLE, units);
    }
    collect(worker);
    worker->batch = NULL;
    graph->ops->ended(graph->data, batch, worker->number, start_ns);
    hand_on(worker, batch);
}

/* ---- batches of others ---- */

/* Returns the stage with most units left that the worker may take; NULL: none. */
static struct kvc_stage_worker *victim_of(const struct kvc_stage_worker *thief)
{
    struct kvc_stage_graph *graph = thief->graph;
    struct kvc_stage_worker *victim = NULL;
    for (uint32_t i = 0; i < graph->workers; i++) {
        struct kvc_stage_worker *owner = &graph->worker[i];
        if (may_steal(owner, thief) && (victim == NULL || owner->left > victim->left)) {
            victim = owner;
        }
    }
    return victim;
}

/* Takes pieces of a batch until none is left or a batch of its own has come. The owner does not wait for a
 * thief that has no piece, and may be gone when that begins. */
static void steal_from(struct kvc_stage_worker *thief, struct kvc_stage_worker *victim)
{
    uint64_t begun = victim->begun;
    approach(victim, thief->processor);
    while (victim->begun == begun && victim->left > 0 && !thief->called) {
        uint32_t units = claim(victim);
        victim->stolen++;
        work(victim, thief, KVC_PIECE_STOLEN, units);
        victim->stolen--;
        victim->rest += units;
        kvc_gate_post(victim->returned);
    }
}

/* ---- workers ---- */

static void *next_batch(struct kvc_stage_worker *worker, double *until_ns)
{
    const struct kvc_stage_graph *graph = worker->graph;
    *until_ns = INFINITY;
    worker->called = false;
    if (worker->number == 0) {
        return graph->ops->next(graph->data, until_ns);
    }
    return worker->queue.count > 0 ? (void *)(uintptr_t)kvc_ring_pop(&worker->queue).value // NOLINT
                                   : NULL;
}

static void worker_main(void *data)
{
    struct kvc_stage_worker *worker = data;
    for (;;) {
        double until_ns;
        void *batch = next_batch(worker, &until_ns);
        struct kvc_stage_worker *victim = batch == NULL ? victim_of(worker) : NULL;
        if (batch != NULL) {
            serve(worker, batch);
        } else if (victim != NULL) {
            steal_from(worker, victim);
        } else if (isinf(until_ns)) {
            worker->idles = true;
            kvc_gate_wait(worker->gate);
        } else {
            kvc_engine_sleep_until_ns(until_ns);
        }
    }
}

void kvc_stage_graph_open(struct kvc_stage_graph *graph)
{
    for (uint32_t i = 0; i < graph->workers; i++) {
        struct kvc_stage_worker *worker = &graph->worker[i];
        *worker = (struct kvc_stage_worker){.graph = graph, .number = i, .processor = UINT32_MAX};
        worker->gate = kvc_gate_create(0);
        worker->returned = kvc_gate_create(0);
    }
    for (uint32_t i = 0; i < graph->workers; i++) {
        kvc_engine_spawn("stage", worker_main, &graph->worker[i]);
    }
}

void kvc_stage_graph_close(struct kvc_stage_graph *graph)
{
    for (uint32_t i = 0; i < graph->workers; i++) {
        struct kvc_stage_worker *worker = &graph->worker[i];
        kvc_ring_free(&worker->queue);
        kvc_gate_free(worker->gate);
        kvc_gate_free(worker->returned);
    }
}
