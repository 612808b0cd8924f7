/* Receivers, which move frames from the wire into a pipeline's buffer and write the items of SETs. */
#include "models/megakv/simulation.h"

#include <math.h>
#include <string.h>

#include "sim/base/clock.h"

enum {
    SETS_KEPT = 8192,
    SWEPT = 64, /* Number of passed items per victim above which the hand sweeps whole words. */
};

/* Doubles the size of two arrays. */
static void grow(uint64_t **hash, uint32_t **location, uint32_t *room)
{
    *room = *room > 0 ? *room * 2 : 1024;
    *hash = realloc(*hash, *room * sizeof(**hash));
    *location = realloc(*location, *room * sizeof(**location));
    if (*hash == NULL || *location == NULL) {
        kvc_out_of_memory("%u index jobs", *room);
    }
}

void kvc_megakv_writes_insert(struct kvc_megakv_writes *writes, uint64_t hash, uint32_t location)
{
    if (writes->inserts == writes->insert_room) {
        grow(&writes->insert_hash, &writes->insert_location, &writes->insert_room);
    }
    writes->insert_hash[writes->inserts] = hash;
    writes->insert_location[writes->inserts++] = location;
}

void kvc_megakv_writes_erase(struct kvc_megakv_writes *writes, uint64_t hash, uint32_t location)
{
    if (writes->erases == writes->erase_room) {
        grow(&writes->erase_hash, &writes->erase_location, &writes->erase_room);
    }
    writes->erase_hash[writes->erases] = hash;
    writes->erase_location[writes->erases++] = location;
}

void kvc_megakv_writes_free(struct kvc_megakv_writes *writes)
{
    free(writes->insert_hash);
    free(writes->insert_location);
    free(writes->erase_hash);
    free(writes->erase_location);
}

/* Delays the receiver whose SET needs a place by the time in which the CLOCK hand passes `items`. If this
 * takes longer than a cycle, as in the first round through a store whose items were all read, it delays all
 * receivers of the socket, because they soon need places, too. */
static void pass_items(struct kvc_megakv_pipeline *pipeline, double items)
{
    struct kvc_megakv_socket *socket = pipeline->socket;
    const struct kvc_megakv_simulation *simulation = socket->simulation;
    double took_ns = items * simulation->costs.pass_ns;
    double until_ns = pipeline->receive_core->free_ns + took_ns;
    pipeline->receive_core->free_ns = until_ns;
    for (uint32_t i = 0; i < simulation->streams && took_ns > simulation->config->cycle_ns; i++) {
        struct kvc_megakv_core *core = socket->pipelines[i].receive_core;
        core->free_ns = fmax(core->free_ns, until_ns);
    }
}

/* Halves the weight of old SETs from time to time, because a store begins to evict once it is full. */
static void learn_evictions(struct kvc_megakv_socket *socket, uint32_t sets, uint32_t evicted, double passed)
{
    socket->sets_known += sets;
    socket->sets_evicting += evicted;
    socket->items_passed += fmin(passed, (double)SWEPT * evicted);
    if (socket->sets_known >= SETS_KEPT) {
        socket->sets_known /= 2;
        socket->sets_evicting /= 2;
        socket->items_passed /= 2;
    }
}

/* Returns the expected cost of an eviction to the receiver of a SET [ns]. */
static double evict_ns(const struct kvc_megakv_socket *socket, uint32_t key_bytes, uint32_t value_bytes)
{
    if (socket->sets_evicting == 0) {
        return 0;
    }
    double marked_frac = 1 - socket->sets_evicting / fmax(socket->items_passed, socket->sets_evicting);
    return kvc_megakv_evict_ns(&socket->simulation->costs, key_bytes, value_bytes, marked_frac) *
           socket->sets_evicting / socket->sets_known;
}

/* Writes the sampled SETs of the frame at row `first` into the slabs and lists the index jobs of the frame.
 */
static void apply_writes(struct kvc_megakv_pipeline *pipeline, const struct kvc_megakv_buffer *buffer,
                         uint32_t first)
{
    struct kvc_megakv_socket *socket = pipeline->socket;
    struct kvc_megakv_simulation *simulation = socket->simulation;
    const struct kvc_batch *batch = buffer->batch;
    uint32_t sets = 0, *rows = simulation->rows;
    uint64_t started = kvc_clock_ticks();
    for (uint32_t i = first; i < batch->count; i++) {
        if (batch->op[i] == KVC_OP_GET) {
            continue;
        }
        socket->writes.jobs++;
        socket->writes.erase_jobs += batch->op[i] == KVC_OP_DELETE;
        if (!buffer->sampled[i]) {
            continue;
        }
        if (batch->op[i] == KVC_OP_SET) {
            rows[sets++] = i;
        } else {
            kvc_megakv_writes_erase(&socket->writes, batch->hash[i], KVC_LOCATION_ANY);
        }
    }
    if (sets > 0) {
        uint64_t passed = socket->shard->slab_stats.clock_steps;
        uint32_t evicted = kvc_shards_write(simulation->store, socket->shard, batch, rows, sets,
                                            simulation->locations, simulation->evicted);
        for (uint32_t i = 0; i < sets; i++) {
            if (simulation->locations[i] != KVC_LOCATION_NONE) {
                kvc_megakv_writes_insert(&socket->writes, batch->hash[rows[i]], simulation->locations[i]);
            }
        }
        for (uint32_t i = 0; i < evicted; i++) {
            kvc_megakv_writes_erase(&socket->writes, simulation->evicted[i].hash,
                                    simulation->evicted[i].location);
        }
        socket->writes.jobs += (double)evicted * (double)simulation->store->sampling.rate;
        socket->writes.erase_jobs += (double)evicted * (double)simulation->store->sampling.rate;
        passed = socket->shard->slab_stats.clock_steps - passed;
        learn_evictions(socket, sets, evicted, (double)passed);
        pass_items(pipeline, (double)passed * (double)simulation->store->sampling.rate);
    }
    simulation->replica.kernel_ticks += kvc_clock_ticks() - started;
}

/* The number of rows of each operation in a frame. */
struct frame_mix {
    uint32_t count[KVC_OP_COUNT];
};

static struct frame_mix mix_of(const struct kvc_batch *batch, uint32_t first)
{
    uint32_t gets = 0, sets = 0;
    for (uint32_t i = first; i < batch->count; i++) {
        gets += batch->op[i] == KVC_OP_GET;
        sets += batch->op[i] == KVC_OP_SET;
    }
    return (struct frame_mix){{gets, sets, batch->count - first - gets - sets}};
}

/* Decides which rows run through the real data structures. */
static void mark_rows(struct kvc_megakv_socket *socket, struct kvc_megakv_buffer *buffer, uint32_t first)
{
    const struct kvc_shards *store = socket->simulation->store;
    struct kvc_batch *batch = buffer->batch;
    if (store->sampling.rate <= 1) {
        memset(buffer->sampled + first, store->sampling.rate == 1, batch->count - first);
        return;
    }
    for (uint32_t i = first; i < batch->count; i++) {
        buffer->sampled[i] =
            kvc_sampling_keeps_request(&store->sampling, batch->key_id[i], &socket->thinning);
        if (buffer->sampled[i] && batch->key_id[i] < store->sampling.hot_keys) {
            kvc_shards_represent(store, socket->simulation->replica.source, batch, i);
        }
    }
}

/* Returns the time of a cost while others share the cores and the memory. */
static double stretched_ns(const struct kvc_megakv_pipeline *pipeline, struct kvc_cpu_cost cost)
{
    return cost.compute_ns * pipeline->core_stretch + cost.stall_ns * pipeline->socket->memory.stretch;
}

static double receive_ns(const struct kvc_megakv_pipeline *pipeline, const struct kvc_batch *batch,
                         uint32_t row)
{
    const struct kvc_megakv_simulation *simulation = pipeline->socket->simulation;
    struct kvc_cpu_cost cost =
        kvc_megakv_receive_cost(&simulation->costs, simulation->config->frame_mean, batch->op[row],
                                batch->key_bytes[row], batch->value_bytes[row]);
    if (batch->op[row] == KVC_OP_SET) {
        cost.stall_ns += evict_ns(pipeline->socket, batch->key_bytes[row], batch->value_bytes[row]);
    }
    return stretched_ns(pipeline, cost);
}

static double frame_bytes(const struct kvc_megakv_pipeline *pipeline, const struct kvc_batch *batch,
                          uint32_t first, const struct frame_mix *mix)
{
    const struct kvc_megakv_simulation *simulation = pipeline->socket->simulation;
    double bytes = 0;
    if (simulation->fixed_sizes) {
        for (int op = 0; op < KVC_OP_COUNT; op++) {
            bytes += mix->count[op] * pipeline->request_bytes[op];
        }
        return bytes;
    }
    for (uint32_t i = first; i < batch->count; i++) {
        bytes += kvc_shards_request_bytes(simulation->config->nic, batch->op[i], batch->key_bytes[i],
                                          batch->value_bytes[i]);
    }
    return bytes;
}

/* Returns when the receiver starts with the frame [ns], or NaN if the receive ring was full and the frame is
 * lost. Sets *arrived_ns to the time when the frame was in the ring. The frames of a port follow one another,
 * regardless of their queue. */
static double frame_start_ns(struct kvc_megakv_pipeline *pipeline, struct kvc_batch *batch, uint32_t first,
                             double bytes, double until_ns, double *arrived_ns)
{
    struct kvc_megakv_socket *socket = pipeline->socket;
    struct kvc_megakv_simulation *simulation = socket->simulation;
    const struct kvc_nic *nic = simulation->config->nic;
    bool network = simulation->config->feed == KVC_MEGAKV_NETWORK;
    double *port_free_ns = &socket->port_free_ns[batch->connection % nic->ports];
    double wire_ns = network ? kvc_nic_wire_ns(nic, bytes, (uint32_t)nic->ports) : 0;
    double latency_ns = network ? simulation->path_ns : 0;
    /* A receiver whose buffer is full continues after the swap. */
    double ready_ns = first >= KVC_MEGAKV_ROWS_MAX ? fmax(pipeline->receive_core->free_ns, until_ns)
                                                   : pipeline->receive_core->free_ns;
    if (simulation->scenario->workload.arrival == KVC_ARRIVAL_SATURATE) {
        /* The client always has one frame on the wire. It arrives when receiver and wire are idle. */
        double start_ns = fmax(ready_ns, *port_free_ns + wire_ns);
        for (uint32_t i = first; i < batch->count; i++) {
            batch->sent_ns[i] = start_ns - wire_ns - latency_ns;
        }
        kvc_recorder_busy(&simulation->replica.recorder, KVC_MEGAKV_RX, start_ns - wire_ns, start_ns);
        *arrived_ns = *port_free_ns = start_ns;
        return start_ns;
    }
    double wire_start_ns = fmax(batch->left_ns + latency_ns, *port_free_ns);
    if (network) {
        wire_start_ns = kvc_engine_link_open_ns((uint32_t)socket->device.nic_rx, wire_start_ns);
    }
    *arrived_ns = wire_start_ns + wire_ns;
    double *slot_ns = &pipeline->started_ns[pipeline->frames % nic->ring_frames];
    kvc_recorder_busy(&simulation->replica.recorder, KVC_MEGAKV_RX, wire_start_ns, *arrived_ns);
    *port_free_ns = *arrived_ns;
    if (pipeline->frames >= nic->ring_frames && *slot_ns > *arrived_ns) {
        return NAN;
    }
    *slot_ns = fmax(*arrived_ns, ready_ns);
    pipeline->frames++;
    return *slot_ns;
}

/* Receives the rows of a frame one by one. Returns when the last one is finished [ns], and sets *sum_ns to
 * the sum of the times at which they are finished. */
static double receive_rows(const struct kvc_megakv_pipeline *pipeline, struct kvc_megakv_buffer *buffer,
                           uint32_t first, double start_ns, double *sum_ns)
{
    const struct kvc_batch *batch = buffer->batch;
    double now_ns = start_ns, sum = 0, cost_ns[KVC_OP_COUNT];
    uint32_t count = batch->count;
    memcpy(cost_ns, pipeline->receive_ns, sizeof(cost_ns)); /* The stores below cannot alias this copy. */
    if (pipeline->socket->simulation->fixed_sizes) {
        for (uint32_t i = first; i < count; i++) {
            now_ns += cost_ns[batch->op[i]];
            sum += now_ns;
            buffer->received_ns[i] = now_ns;
        }
    } else {
        for (uint32_t i = first; i < count; i++) {
            now_ns += receive_ns(pipeline, batch, i);
            sum += now_ns;
            buffer->received_ns[i] = now_ns;
        }
    }
    *sum_ns = sum;
    return now_ns;
}

/* Adds the load of a frame on cores and memory. A thread without a sibling holds its core while it stalls. */
static void add_draws(struct kvc_megakv_pipeline *pipeline, const struct kvc_batch *batch, uint32_t first,
                      const struct frame_mix *mix, double took_ns)
{
    struct kvc_megakv_socket *socket = pipeline->socket;
    const struct kvc_megakv_simulation *simulation = socket->simulation;
    bool siblings = simulation->config->cpu->threads_per_core > 1;
    uint32_t count = batch->count - first;
    pipeline->worked_ns +=
        (siblings ? count * socket->receive_compute_ns : took_ns) * simulation->costs.core_speed;
    for (int op = 0; op < KVC_OP_COUNT && simulation->fixed_sizes; op++) {
        kvc_dram_load_add(&socket->received_load, &socket->receive_load[op], mix->count[op]);
    }
    for (uint32_t i = first; i < batch->count && !simulation->fixed_sizes; i++) {
        struct kvc_dram_load load = kvc_megakv_receive_load(&simulation->costs, batch->op[i],
                                                            batch->key_bytes[i], batch->value_bytes[i]);
        kvc_dram_load_add(&socket->received_load, &load, 1);
    }
}

/* Receives the frame that begins at row `first`. Every row is finished at a time of its own. */
static void receive_frame(struct kvc_megakv_pipeline *pipeline, uint32_t first, double until_ns)
{
    struct kvc_megakv_simulation *simulation = pipeline->socket->simulation;
    struct kvc_recorder *recorder = &simulation->replica.recorder;
    struct kvc_megakv_buffer *buffer = pipeline->filling;
    struct kvc_batch *batch = buffer->batch;
    struct frame_mix mix = mix_of(batch, first);
    uint32_t count = batch->count - first;
    double bytes = frame_bytes(pipeline, batch, first, &mix), arrived_ns, sum_ns,
           start_ns = frame_start_ns(pipeline, batch, first, bytes, until_ns, &arrived_ns);
    bool follows = buffer->aside != NULL && buffer->aside[first] != KVC_MEGAKV_ASIDE_NONE;
    if (!follows) { /* Otherwise, its request is already known. */
        kvc_recorder_offered(recorder, batch->sent_ns + first, count);
    }
    pipeline->socket->sent_here += count;
    if (isnan(start_ns)) {
        kvc_recorder_dropped(recorder, batch->sent_ns + first, count);
        if (follows) {
            kvc_megakv_aside_forget(pipeline->socket->aside, buffer->aside[first]);
        }
        batch->count = first;
        return;
    }
    mark_rows(pipeline->socket, buffer, first);
    double through_ns = receive_rows(pipeline, buffer, first, start_ns, &sum_ns);
    double stalled_ns = kvc_stalls_ns(&pipeline->receive_core->stalls, start_ns, through_ns);
    if (stalled_ns > 0) {
        start_ns += stalled_ns;
        through_ns = receive_rows(pipeline, buffer, first, start_ns, &sum_ns);
    }
    memset(buffer->location + first, 0xff, count * sizeof(*buffer->location)); /* KVC_LOCATION_NONE */
    buffer->gets += mix.count[KVC_OP_GET];
    buffer->received_sum_ns += sum_ns;
    pipeline->receive_core->free_ns = through_ns;
    pipeline->socket->received_bytes += kvc_nic_wire_bytes(simulation->config->nic, bytes);
    add_draws(pipeline, batch, first, &mix, through_ns - start_ns);
    pipeline->socket->receive_busy_ns += through_ns - start_ns;
    kvc_recorder_busy(recorder, KVC_MEGAKV_RECEIVE, start_ns, through_ns);
    if (arrived_ns >= recorder->from_ns && through_ns < recorder->until_ns) {
        simulation->received += count;
        simulation->receive_sum_ns += sum_ns - count * arrived_ns;
    }
    if (mix.count[KVC_OP_GET] < count) {
        apply_writes(pipeline, buffer, first);
    }
}

static uint32_t drain(struct kvc_megakv_socket *socket, double until_ns, struct kvc_batch *batch)
{
    struct kvc_megakv_simulation *simulation = socket->simulation;
    uint64_t started = kvc_clock_ticks();
    uint32_t drained = kvc_source_drain(simulation->replica.source, socket->number, until_ns, batch);
    simulation->replica.source_ticks += kvc_clock_ticks() - started;
    return drained;
}

static bool has_room(const struct kvc_megakv_pipeline *pipeline)
{
    const struct kvc_megakv_simulation *simulation = pipeline->socket->simulation;
    return pipeline->filling->batch->count + simulation->config->frame_requests <= KVC_MEGAKV_ROWS_MAX;
}

/* Receives under saturating load: each receiver takes frames as fast as it can. The receivers take turns, so
 * that no receiver gets more of the popular keys than the others. */
static void receive_saturating(struct kvc_megakv_socket *socket, double until_ns)
{
    bool busy = true;
    while (busy) {
        busy = false;
        for (uint32_t i = 0; i < socket->simulation->streams; i++) {
            struct kvc_megakv_pipeline *pipeline = &socket->pipelines[i];
            uint32_t first = pipeline->filling->batch->count;
            if (pipeline->receive_core->free_ns >= until_ns) {
                continue;
            }
            if (!has_room(pipeline) || drain(socket, until_ns, pipeline->filling->batch) == 0) {
                if (!socket->simulation->shared) { /* A shared core continues with other pipelines. */
                    pipeline->receive_core->free_ns = until_ns;
                }
                continue;
            }
            receive_frame(pipeline, first, until_ns);
            busy = true;
        }
    }
}

static bool peek(struct kvc_megakv_simulation *simulation, struct kvc_source *source, uint32_t shard,
                 double until_ns, uint32_t *connection)
{
    uint64_t started = kvc_clock_ticks();
    bool found = kvc_source_peek(source, shard, until_ns, connection);
    simulation->replica.source_ticks += kvc_clock_ticks() - started;
    return found;
}

/* Sends the updates of a frame to the database, and the rest to the receiver. */
static void receive_rest(struct kvc_megakv_pipeline *pipeline, uint32_t first, double until_ns)
{
    struct kvc_megakv_buffer *buffer = pipeline->filling;
    struct kvc_recorder *recorder = &pipeline->socket->simulation->replica.recorder;
    const struct kvc_batch *batch = buffer->batch;
    for (uint32_t i = first; i < batch->count; i++) {
        if (kvc_cache_aside_updates((enum kvc_op)batch->op[i])) {
            kvc_recorder_offered(recorder, batch->sent_ns + i, 1);
        }
    }
    kvc_megakv_aside_take_updates(pipeline->socket->aside, buffer, first, pipeline->number);
    if (batch->count > first) {
        receive_frame(pipeline, first, until_ns);
    }
}

/* Receives the next frame that clients send by `by_ns`, in open and closed loops, before a swap at until_ns.
 * Returns false if there is none. The NIC spreads frames over the queues by a hash of the connection (RSS),
 * and frames in memory are dealt at random, both regardless of the queues' load. */
static bool receive_next(struct kvc_megakv_socket *socket, double by_ns, double until_ns)
{
    struct kvc_source *source = socket->simulation->replica.source;
    uint32_t connection;
    if (!peek(socket->simulation, source, socket->number, by_ns, &connection)) {
        return false;
    }
    bool network = socket->simulation->config->feed == KVC_MEGAKV_NETWORK;
    uint32_t queue = network ? kvc_rss_queue(socket->rss, connection)
                             : kvc_rng_below(&socket->spread, socket->simulation->streams);
    struct kvc_megakv_pipeline *pipeline = &socket->pipelines[queue];
    uint32_t first = pipeline->filling->batch->count;
    /* A core that the receivers share with the index is about to run a launch. */
    if ((socket->simulation->shared && pipeline->receive_core->free_ns >= until_ns) ||
        drain(socket, by_ns, pipeline->filling->batch) == 0) {
        return false;
    }
    if (socket->aside != NULL) {
        receive_rest(pipeline, first, until_ns);
    } else {
        receive_frame(pipeline, first, until_ns);
    }
    return true;
}

/* Receives frames of the clients, and messages that follow the answers of a database, in the order in which
 * they leave.
 */
static void receive_arrived(struct kvc_megakv_socket *socket, double until_ns)
{
    for (;;) {
        double event_ns = socket->aside != NULL ? kvc_events_next_ns(&socket->aside->events) : INFINITY;
        double time_ns;
        if (receive_next(socket, fmin(event_ns, until_ns), until_ns)) {
            continue;
        }
        if (event_ns > until_ns) {
            return;
        }
        uint32_t number = kvc_megakv_aside_handle(socket->aside, &time_ns);
        if (number != KVC_MEGAKV_ASIDE_NONE) {
            struct kvc_megakv_pipeline *pipeline =
                &socket->pipelines[kvc_megakv_aside_pipeline(socket->aside, number)];
            uint32_t first = pipeline->filling->batch->count;
            kvc_megakv_aside_put(socket->aside, number, time_ns, pipeline->filling);
            receive_frame(pipeline, first, until_ns);
        }
    }
}

/* Sets the costs and loads of a socket's requests until the next swap. */
static void update_draws(struct kvc_megakv_socket *socket)
{
    const struct kvc_megakv_simulation *simulation = socket->simulation;
    const struct kvc_workload *workload = &simulation->scenario->workload;
    uint32_t key_bytes = (uint32_t)workload->key_bytes, value_bytes = (uint32_t)workload->value_bytes;
    /* The compute of a request depends neither on its operation nor on its sizes. */
    socket->receive_compute_ns =
        kvc_megakv_receive_cost(&simulation->costs, simulation->config->frame_mean, KVC_OP_GET, key_bytes, 0)
            .compute_ns;
    for (int op = 0; op < KVC_OP_COUNT && simulation->fixed_sizes; op++) {
        socket->receive_load[op] = kvc_megakv_receive_load(&simulation->costs, op, key_bytes, value_bytes);
    }
}

/* Sets the costs until the next swap. */
static void update_costs(struct kvc_megakv_pipeline *pipeline)
{
    const struct kvc_megakv_simulation *simulation = pipeline->socket->simulation;
    const struct kvc_scenario *scenario = simulation->scenario;
    if (!simulation->fixed_sizes) {
        return;
    }
    uint32_t key_bytes = (uint32_t)scenario->workload.key_bytes,
             value_bytes = (uint32_t)scenario->workload.value_bytes;
    for (int op = 0; op < KVC_OP_COUNT; op++) {
        struct kvc_cpu_cost cost = kvc_megakv_receive_cost(&simulation->costs, simulation->config->frame_mean,
                                                           op, key_bytes, value_bytes);
        cost.stall_ns += op == KVC_OP_SET ? evict_ns(pipeline->socket, key_bytes, value_bytes) : 0;
        pipeline->receive_ns[op] = stretched_ns(pipeline, cost);
        pipeline->request_bytes[op] =
            kvc_shards_request_bytes(simulation->config->nic, op, key_bytes, value_bytes);
    }
}

void kvc_megakv_receivers_main(void *data)
{
    struct kvc_megakv_socket *socket = data;
    uint32_t streams = socket->simulation->streams;
    for (;;) {
        kvc_gate_wait(socket->receive_gate);
        while (socket->receive_span_ns > 0) {
            double start_ns = kvc_engine_now_ns(), span_ns = socket->receive_span_ns;
            socket->receive_span_ns = 0;
            for (uint32_t i = 0; i < streams; i++) {
                struct kvc_megakv_pipeline *pipeline = &socket->pipelines[i];
                const struct kvc_draw draw = {(uint32_t)socket->device.cpu, pipeline->posted_ns, span_ns};
                pipeline->posted_ns = 0;
                kvc_engine_start(&pipeline->received, &draw, 1);
            }
            /* All draws span the same time, so they end together unless the cores are short. */
            for (uint32_t i = 0; i < streams; i++) {
                struct kvc_megakv_pipeline *pipeline = &socket->pipelines[i];
                kvc_engine_finish(&pipeline->received);
                pipeline->core_stretch = fmax((kvc_engine_now_ns() - start_ns) / span_ns, 1);
            }
        }
        socket->receiving = false;
    }
}

/* Posts the work of the database since the last swap to its actor. */
static void post_queries(struct kvc_megakv_socket *socket, double now_ns, double span_ns)
{
    struct kvc_megakv_aside *aside = socket->aside;
    double busy_ns = kvc_database_engine_busy_ns(&aside->database), done_ns = busy_ns - aside->posted_ns;
    aside->posted_ns = busy_ns;
    kvc_recorder_busy(&socket->simulation->replica.recorder, KVC_MEGAKV_DATABASE, now_ns - done_ns, now_ns);
    kvc_megakv_share_post(&socket->queried, done_ns, 0, span_ns);
}

/* Turns the work of the receivers since the last swap into activities. */
static void post_work(struct kvc_megakv_socket *socket, double now_ns)
{
    const struct kvc_megakv_simulation *simulation = socket->simulation;
    double span_ns = now_ns - socket->swapped_ns;
    if (span_ns <= 0) {
        return;
    }
    /* Receivers that share the scheduler's core take turns with the index there; this actor would overlap
     * them. */
    for (uint32_t i = 0; i < simulation->streams && !simulation->shared; i++) {
        struct kvc_megakv_pipeline *pipeline = &socket->pipelines[i];
        /* Work on frames that reach beyond the swap belongs to the next cycle. */
        double amount_ns = fmin(pipeline->worked_ns, span_ns);
        pipeline->posted_ns += amount_ns;
        pipeline->worked_ns -= amount_ns;
    }
    socket->receive_span_ns += simulation->shared ? 0 : span_ns;
    if (!simulation->shared && !socket->receiving) {
        socket->receiving = true;
        kvc_gate_post(socket->receive_gate);
    }
    double received_ns = kvc_dram_channel_ns(simulation->config->dram, &socket->received_load);
    socket->received_channels = received_ns / span_ns;
    kvc_megakv_share_post(&socket->memory, received_ns + socket->answered_channel_ns,
                          simulation->config->feed == KVC_MEGAKV_NETWORK ? socket->received_bytes : 0,
                          span_ns);
    if (socket->answered_bytes > 0) {
        kvc_megakv_share_post(&socket->answers, 0, socket->answered_bytes, span_ns);
    }
    if (socket->aside != NULL) {
        post_queries(socket, now_ns, span_ns);
    }
    socket->received_load = (struct kvc_dram_load){0};
    socket->received_bytes = socket->answered_bytes = socket->answered_channel_ns = 0;
    socket->swapped_ns = now_ns;
}

void kvc_megakv_receive(struct kvc_megakv_socket *socket, double until_ns)
{
    kvc_megakv_use_cores(socket);
    update_draws(socket);
    for (uint32_t i = 0; i < socket->simulation->streams; i++) {
        update_costs(&socket->pipelines[i]);
    }
    if (socket->simulation->scenario->workload.arrival == KVC_ARRIVAL_SATURATE) {
        receive_saturating(socket, until_ns);
    } else {
        receive_arrived(socket, until_ns);
    }
    post_work(socket, until_ns);
}

static void move_rows(struct kvc_megakv_buffer *from, struct kvc_megakv_buffer *to, uint32_t first)
{
    struct kvc_batch *a = from->batch, *b = to->batch;
    uint32_t count = a->count - first, gets = 0;
    double received_ns = 0;
    for (uint32_t i = first; i < a->count; i++) {
        gets += a->op[i] == KVC_OP_GET;
        received_ns += from->received_ns[i];
    }
    memcpy(b->op, a->op + first, count * sizeof(*a->op));
    memcpy(b->key_bytes, a->key_bytes + first, count * sizeof(*a->key_bytes));
    memcpy(b->value_bytes, a->value_bytes + first, count * sizeof(*a->value_bytes));
    memcpy(b->keys, a->keys + (size_t)first * a->key_stride, (size_t)count * a->key_stride);
    memcpy(b->key_id, a->key_id + first, count * sizeof(*a->key_id));
    memcpy(b->hash, a->hash + first, count * sizeof(*a->hash));
    memcpy(b->sent_ns, a->sent_ns + first, count * sizeof(*a->sent_ns));
    memcpy(b->client, a->client + first, count * sizeof(*a->client));
    memcpy(to->received_ns, from->received_ns + first, count * sizeof(*from->received_ns));
    memcpy(to->location, from->location + first, count * sizeof(*from->location));
    memcpy(to->sampled, from->sampled + first, count * sizeof(*from->sampled));
    if (from->aside != NULL) {
        memcpy(to->aside, from->aside + first, count * sizeof(*from->aside));
        memcpy(to->connection, from->connection + first, count * sizeof(*from->connection));
    }
    a->count = first;
    b->count = count;
    from->gets -= gets;
    to->gets = gets;
    from->received_sum_ns -= received_ns;
    to->received_sum_ns = received_ns;
}

void kvc_megakv_split(struct kvc_megakv_pipeline *pipeline, struct kvc_megakv_buffer *next, double until_ns)
{
    struct kvc_megakv_buffer *buffer = pipeline->filling;
    uint32_t first = buffer->batch->count;
    while (first > 0 && buffer->received_ns[first - 1] > until_ns) {
        first--;
    }
    move_rows(buffer, next, first);
}
