/* Senders, which read the items of a searched buffer, answer, and record when each response arrives. */
#include "models/megakv/simulation.h"

#include <math.h>
#include <string.h>

#include "sim/base/clock.h"

enum {
    /* Far fewer than the requests over which the hit ratio of a sample changes, which are about as many as
     * its keys.
     */
    OUTCOMES_KEPT = 128,
};

/* Returns the number of GETs that run through the real data structures. */
static uint32_t sampled_gets(const struct kvc_megakv_buffer *buffer)
{
    const struct kvc_batch *batch = buffer->batch;
    uint32_t gets = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        gets += batch->op[i] == KVC_OP_GET && buffer->sampled[i];
    }
    return gets;
}

static void note_lookup_mix(struct kvc_megakv_pipeline *pipeline, const struct kvc_megakv_buffer *buffer,
                            uint64_t checked, uint64_t marked)
{
    const struct kvc_batch *batch = buffer->batch;
    const uint8_t *result = pipeline->socket->simulation->read_result;
    double gets = sampled_gets(buffer), hits = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        hits += result[i] == KVC_MEGAKV_SLAB_HIT;
    }
    if (hits > 0) { /* Without any hit, the mix of the batch before remains. */
        pipeline->lookup_mix =
            (struct kvc_shards_lookup_mix){1 - hits / gets, (double)checked / hits, (double)marked / hits};
    }
}

/* Reads the items from the slabs. The simulation's read_result[i] becomes the result of row i. */
static void read_items(struct kvc_megakv_pipeline *pipeline, const struct kvc_megakv_buffer *buffer)
{
    struct kvc_megakv_simulation *simulation = pipeline->socket->simulation;
    const struct kvc_batch *batch = buffer->batch;
    uint64_t started = kvc_clock_ticks();
    /* With getk the client compares the keys. In both cases, another key's item is not a hit. */
    struct kvc_megakv_slab_reads reads = {
        .count = batch->count,
        .location = buffer->location,
        .hash = batch->hash,
        .keys = batch->keys,
        .key_stride = batch->key_stride,
        .key_bytes = batch->key_bytes,
        .compare = true,
        .out = simulation->response,
        .out_bytes = KVC_MEGAKV_RESPONSE_BYTES,
        .out_position = &simulation->response_position,
        .result = simulation->read_result,
    };
    struct kvc_megakv_slab_stats *stats = &pipeline->socket->shard->slab_stats;
    uint64_t checked = stats->checked, marked = stats->marked;
    kvc_megakv_slab_read(pipeline->socket->shard->slab, &reads, stats);
    pipeline->socket->shard->read += sampled_gets(buffer);
    simulation->replica.kernel_ticks += kvc_clock_ticks() - started;
    if (simulation->costs.measured) { /* Other costs do not depend on the lookup mix. */
        note_lookup_mix(pipeline, buffer, stats->checked - checked, stats->marked - marked);
    }
}

/* Draws the outcome of a GET that is not sampled, with the hit ratio of the GETs sampled lately. */
static int drawn_outcome(struct kvc_megakv_socket *socket)
{
    double hit_frac = socket->simulation->costs.hit_frac;
    if (socket->outcomes_known > 0) {
        hit_frac = socket->outcomes_hit / socket->outcomes_known;
    }
    return kvc_rng_unit(&socket->outcome) < hit_frac ? KVC_MEGAKV_HIT : KVC_MEGAKV_MISS;
}

/* Halves the weight of old outcomes from time to time, because the hit ratio changes while a store fills. */
static void learn_outcome(struct kvc_megakv_socket *socket, bool hit)
{
    socket->outcomes_known++;
    socket->outcomes_hit += hit;
    if (socket->outcomes_known == OUTCOMES_KEPT) {
        socket->outcomes_known /= 2;
        socket->outcomes_hit /= 2;
    }
}

/* Turns the results of reading into outcomes, in place. */
static void find_outcomes(struct kvc_megakv_socket *socket, const struct kvc_megakv_buffer *buffer)
{
    const struct kvc_batch *batch = buffer->batch;
    uint8_t *outcome = socket->simulation->read_result;
    bool all_sampled = socket->simulation->store->sampling.rate == 1;
    /* HIT, ABSENT and MISMATCH equal their outcomes. CHANGED, an item that changed while it was read, counts
     * as a mismatch. */
    for (uint32_t i = 0; i < batch->count; i++) {
        uint8_t found = outcome[i] < KVC_MEGAKV_MISMATCH ? outcome[i] : KVC_MEGAKV_MISMATCH;
        outcome[i] = batch->op[i] == KVC_OP_GET ? found : KVC_MEGAKV_DONE;
    }
    for (uint32_t i = 0; i < batch->count && !all_sampled; i++) {
        if (batch->op[i] != KVC_OP_GET) {
            continue;
        }
        if (buffer->sampled[i]) {
            learn_outcome(socket, outcome[i] == KVC_MEGAKV_HIT);
        } else {
            outcome[i] = (uint8_t)drawn_outcome(socket);
        }
    }
}

_Static_assert((int)KVC_MEGAKV_HIT == KVC_MEGAKV_SLAB_HIT && (int)KVC_MEGAKV_MISS == KVC_MEGAKV_SLAB_ABSENT &&
                   (int)KVC_MEGAKV_MISMATCH == KVC_MEGAKV_SLAB_MISMATCH &&
                   KVC_MEGAKV_SLAB_CHANGED > KVC_MEGAKV_SLAB_MISMATCH,
               "find_outcomes relies on it");

/* Sends a frame at ready_ns. The rows `first` to last - 1 reach the client together. The waits of frames for
 * each other at the ports follow from the transfer of the whole batch. */
static void send_frame(struct kvc_megakv_pipeline *pipeline, double bytes, double ready_ns, uint32_t first,
                       uint32_t last)
{
    struct kvc_megakv_simulation *simulation = pipeline->socket->simulation;
    const struct kvc_nic *nic = simulation->config->nic;
    double done_ns = ready_ns + kvc_nic_wire_ns(nic, bytes, (uint32_t)nic->ports) + simulation->path_ns;
    for (uint32_t i = first; i < last; i++) {
        simulation->done_ns[i] = done_ns;
    }
}

/* A response: the sender's time for it and the compute in it [ns], its size in a frame [bytes], and its load
 * on the memory. */
struct response {
    double cost_ns, compute_ns, bytes;
    struct kvc_dram_load load;
};

/* Load of a batch on the devices. */
struct batch_work {
    double cost_ns, compute_ns, bytes;
    struct kvc_dram_load load;
};

static void add_work(struct batch_work *sum, const struct response *response, double count)
{
    sum->cost_ns += count * response->cost_ns;
    sum->compute_ns += count * response->compute_ns;
    sum->bytes += count * response->bytes;
    kvc_dram_load_add(&sum->load, &response->load, count);
}

static struct response response_of(const struct kvc_megakv_pipeline *pipeline, int outcome,
                                   uint32_t key_bytes, uint32_t value_bytes)
{
    const struct kvc_megakv_simulation *simulation = pipeline->socket->simulation;
    struct kvc_cpu_cost cost =
        kvc_megakv_send_cost(&simulation->costs, &pipeline->lookup_mix, outcome, key_bytes, value_bytes);
    return (struct response){
        .cost_ns = (cost.compute_ns + cost.stall_ns) * pipeline->slowness,
        .compute_ns = cost.compute_ns * pipeline->slowness,
        .load = kvc_megakv_send_load(&simulation->costs, outcome, key_bytes, value_bytes),
        .bytes = kvc_megakv_response_bytes(simulation->config->nic, simulation->config->api, outcome,
                                           key_bytes, value_bytes),
    };
}

/* Returns the time that a sender waits before the chunk of rows that begins at chunk * KVC_MEGAKV_SEND_ROWS
 * [ns]: the turns of the other senders on its core since its own previous turn, at pace_ns per row. */
static double others_ns(const struct kvc_megakv_pipeline *pipeline, const struct kvc_megakv_buffer *buffer,
                        uint32_t chunk, double pace_ns)
{
    const struct kvc_megakv_socket *socket = pipeline->socket;
    double rows = 0;
    for (uint32_t i = 0; i < socket->simulation->streams; i++) {
        if (i == pipeline->number || socket->pipelines[i].send_core != pipeline->send_core) {
            continue;
        }
        int64_t first = ((int64_t)chunk - (i > pipeline->number)) * KVC_MEGAKV_SEND_ROWS;
        int64_t left = (int64_t)buffer->launched_gets[i] - first;
        if (first >= 0 && left > 0) {
            rows += left < KVC_MEGAKV_SEND_ROWS ? (double)left : KVC_MEGAKV_SEND_ROWS;
        }
    }
    return rows * pace_ns;
}

/* Fills the responses by outcome, of a workload whose keys and values have one size. */
static void find_fixed(const struct kvc_megakv_pipeline *pipeline, struct response fixed[KVC_MEGAKV_OUTCOMES])
{
    const struct kvc_workload *workload = &pipeline->socket->simulation->scenario->workload;
    for (int outcome = 0; outcome < KVC_MEGAKV_OUTCOMES; outcome++) {
        fixed[outcome] =
            response_of(pipeline, outcome, (uint32_t)workload->key_bytes, (uint32_t)workload->value_bytes);
    }
}

/* Returns the mean time of the batch's GETs, which the other senders on the core wait for [ns]. */
static double pace_of(const struct kvc_megakv_pipeline *pipeline, const struct kvc_megakv_buffer *buffer)
{
    const struct kvc_megakv_simulation *simulation = pipeline->socket->simulation;
    const struct kvc_batch *batch = buffer->batch;
    struct response fixed[KVC_MEGAKV_OUTCOMES];
    double sum_ns = 0;
    if (simulation->fixed_sizes) {
        find_fixed(pipeline, fixed);
    }
    for (uint32_t i = 0; i < batch->count; i++) {
        if (batch->op[i] == KVC_OP_GET) {
            int outcome = simulation->read_result[i];
            sum_ns +=
                simulation->fixed_sizes
                    ? fixed[outcome].cost_ns
                    : response_of(pipeline, outcome, batch->key_bytes[i], batch->value_bytes[i]).cost_ns;
        }
    }
    return buffer->gets > 0 ? sum_ns / buffer->gets : 0;
}

/* Reserves the core for all batches of a launch. Returns when it begins with them [ns]. */
static double drain_core(struct kvc_megakv_pipeline *pipeline, const struct kvc_megakv_buffer *buffer,
                         double now_ns, double pace_ns)
{
    struct kvc_megakv_core *core = pipeline->send_core;
    if (core->searched_ns == buffer->searched_ns) {
        return core->began_ns;
    }
    core->searched_ns = buffer->searched_ns;
    core->began_ns = core->free_ns = fmax(now_ns, core->free_ns);
    for (uint32_t i = 0; i < pipeline->socket->simulation->streams; i++) {
        if (pipeline->socket->pipelines[i].send_core == core) {
            core->free_ns += buffer->launched_gets[i] * pace_ns;
        }
    }
    return core->began_ns;
}

/* Calibrated senders read KVC_MEGAKV_SEND_ROWS items at a time and answer when they have read the last one.
 */
static void answer_together(struct kvc_megakv_simulation *simulation, const struct kvc_batch *batch)
{
    uint32_t first = 0, gets = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        gets += batch->op[i] == KVC_OP_GET;
        if (gets < KVC_MEGAKV_SEND_ROWS && i + 1 < batch->count) {
            continue;
        }
        for (; first <= i; first++) {
            simulation->done_ns[first] = simulation->done_ns[i];
        }
        gets = 0;
    }
}

/* Sends the rows one by one and fills frames with the responses. pace_ns is the result of pace_of, if cores
 * are shared. Returns when the sender has finished if nothing shares its devices [ns], and adds the use of
 * these devices to *sum. */
static double send_rows(struct kvc_megakv_pipeline *pipeline, const struct kvc_megakv_buffer *buffer,
                        double now_ns, double pace_ns, struct batch_work *sum)
{
    struct kvc_megakv_simulation *simulation = pipeline->socket->simulation;
    const struct kvc_batch *batch = buffer->batch;
    bool network = simulation->config->feed == KVC_MEGAKV_NETWORK;
    /* With feed = "memory" there are no frames: every row is answered as soon as it is processed. */
    double room = network ? kvc_nic_payload_bytes(simulation->config->nic) : 0, frame_bytes = 0;
    struct response fixed[KVC_MEGAKV_OUTCOMES];
    if (simulation->fixed_sizes) {
        find_fixed(pipeline, fixed);
    }
    uint32_t first = 0, count = batch->count, gets = 0, found[KVC_MEGAKV_OUTCOMES] = {0};
    if (simulation->shared) {
        now_ns = drain_core(pipeline, buffer, now_ns, pace_ns);
    }
    for (uint32_t i = 0; i < count; i++) {
        int outcome = simulation->read_result[i];
        if (simulation->shared && batch->op[i] == KVC_OP_GET && gets++ % KVC_MEGAKV_SEND_ROWS == 0) {
            now_ns += others_ns(pipeline, buffer, (gets - 1) / KVC_MEGAKV_SEND_ROWS, pace_ns);
        }
        struct response response =
            simulation->fixed_sizes
                ? fixed[outcome]
                : response_of(pipeline, outcome, batch->key_bytes[i], batch->value_bytes[i]);
        if (frame_bytes + response.bytes > room && i > first) {
            if (network) {
                send_frame(pipeline, frame_bytes, now_ns, first, i);
            }
            first = i;
            frame_bytes = 0;
        }
        frame_bytes += response.bytes;
        now_ns += response.cost_ns;
        found[outcome]++;
        if (!simulation->fixed_sizes) {
            add_work(sum, &response, 1);
        }
        if (!network) {
            simulation->done_ns[i] = now_ns;
        }
    }
    for (int outcome = 0; outcome < KVC_MEGAKV_OUTCOMES && simulation->fixed_sizes; outcome++) {
        add_work(sum, &fixed[outcome], found[outcome]);
    }
    if (network) {
        send_frame(pipeline, frame_bytes, now_ns, first, count);
    } else if (simulation->costs.measured) {
        answer_together(simulation, batch);
    }
    return now_ns;
}

/* Sets two columns to the times of those rows whose latency counts: the GETs, or all rows of a workload
 * without GETs. Returns the number of these rows. */
static uint32_t timed_rows(const struct kvc_megakv_simulation *simulation,
                           const struct kvc_megakv_buffer *buffer, const double **sent_ns,
                           const double **done_ns)
{
    const struct kvc_batch *batch = buffer->batch;
    *sent_ns = batch->sent_ns;
    *done_ns = simulation->done_ns;
    if (buffer->gets == batch->count || simulation->scenario->workload.get_frac <= 0) {
        return batch->count;
    }
    uint32_t timed = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        simulation->column_a[timed] = batch->sent_ns[i];
        simulation->column_b[timed] = simulation->done_ns[i];
        timed += batch->op[i] == KVC_OP_GET;
    }
    *sent_ns = simulation->column_a;
    *done_ns = simulation->column_b;
    return timed;
}

/* Adds up the times of requests in each stage, for batches that lie entirely within the measured time.
 * Returns whether this one does, and sets *latency_sum_ns to the sum over its rows. */
static bool record_stays(struct kvc_megakv_simulation *simulation, const struct kvc_megakv_buffer *buffer,
                         double *latency_sum_ns)
{
    const struct kvc_batch *batch = buffer->batch;
    const struct kvc_recorder *recorder = &simulation->replica.recorder;
    uint32_t count = batch->count;
    if (simulation->done_ns[0] < recorder->from_ns || simulation->done_ns[count - 1] >= recorder->until_ns) {
        return false;
    }
    double done_sum_ns = 0;
    *latency_sum_ns = kvc_recorder_sum(batch->sent_ns, simulation->done_ns, count, &done_sum_ns);
    simulation->batched += count;
    simulation->batch_sum_ns += count * buffer->launched_ns - buffer->received_sum_ns;
    simulation->gpu_sum_ns += count * (buffer->searched_ns - buffer->launched_ns);
    simulation->send_sum_ns += done_sum_ns - count * buffer->searched_ns;
    return true;
}

/* Records how many of a batch's GETs found their key, within the measured time or not. */
static void note_lookups(struct kvc_megakv_simulation *simulation, uint32_t rows, double now_ns)
{
    uint32_t hits = 0, gets = 0;
    for (uint32_t i = 0; i < rows; i++) {
        hits += simulation->read_result[i] == KVC_MEGAKV_HIT;
        gets += simulation->read_result[i] != KVC_MEGAKV_DONE;
    }
    kvc_recorder_lookups(&simulation->replica.recorder, now_ns, gets, hits);
}

static void record(struct kvc_megakv_pipeline *pipeline, const struct kvc_megakv_buffer *buffer,
                   double now_ns)
{
    struct kvc_megakv_simulation *simulation = pipeline->socket->simulation;
    const struct kvc_batch *batch = buffer->batch;
    const uint8_t *outcome = simulation->read_result;
    const double *sent_ns, *done_ns;
    uint32_t first, last, timed = timed_rows(simulation, buffer, &sent_ns, &done_ns);
    double timed_sum_ns =
        kvc_recorder_latencies(&simulation->replica.recorder, now_ns, sent_ns, done_ns, timed);
    const double mark_ns[] = {buffer->launched_ns, buffer->searched_ns};
    kvc_recorder_paths(&simulation->replica.recorder, sent_ns, done_ns, timed, mark_ns, 2, 0);
    kvc_recorder_completions(&simulation->replica.recorder, now_ns, batch->sent_ns, simulation->done_ns,
                             batch->count, &first, &last);
    kvc_recorder_tenants(&simulation->replica.recorder,
                         &(struct kvc_tenant_rows){.tenant = batch->client,
                                                   .sent_ns = batch->sent_ns,
                                                   .done_ns = simulation->done_ns,
                                                   .outcome = outcome,
                                                   .hit = KVC_MEGAKV_HIT,
                                                   .miss = KVC_MEGAKV_MISS,
                                                   .other_miss = KVC_MEGAKV_MISMATCH,
                                                   .times_all = timed == batch->count,
                                                   .count = batch->count});
    pipeline->socket->served_here += batch->count;
    kvc_policy_latencies(&simulation->replica.policy, pipeline->socket->number, sent_ns, done_ns, timed);
    uint32_t hits = 0, writes = 0, sets = 0;
    for (uint32_t i = first; i < last; i++) {
        hits += outcome[i] == KVC_MEGAKV_HIT;
        writes += outcome[i] == KVC_MEGAKV_DONE;
        sets += batch->op[i] == KVC_OP_SET;
    }
    note_lookups(simulation, batch->count, now_ns);
    simulation->completed += last - first;
    simulation->hits += hits;
    simulation->misses += last - first - hits - writes;
    simulation->writes += writes;
    simulation->sets += sets;
    double latency_sum_ns;
    if (record_stays(simulation, buffer, &latency_sum_ns)) {
        simulation->written += batch->count - timed;
        simulation->write_latency_sum_ns += latency_sum_ns - timed_sum_ns;
    }
}

/* Records the requests of a store with a database that end with a row of this buffer. */
static void record_ended(struct kvc_megakv_pipeline *pipeline, const struct kvc_megakv_buffer *buffer,
                         double now_ns)
{
    struct kvc_megakv_simulation *simulation = pipeline->socket->simulation;
    const struct kvc_batch *batch = buffer->batch;
    bool times_all = simulation->scenario->workload.get_frac <= 0;
    double *sent_ns = simulation->column_a, *done_ns = simulation->column_b, rows_sum_ns, unused_ns = 0;
    uint32_t ended = 0, timed = 0, first, last, *rows = simulation->rows;
    for (uint32_t i = 0; i < batch->count; i++) {
        if (buffer->aside[i] != KVC_MEGAKV_ASIDE_GOES_ON) {
            rows[ended] = i;
            sent_ns[ended] = batch->sent_ns[i];
            done_ns[ended++] = simulation->done_ns[i];
        }
    }
    note_lookups(simulation, batch->count, now_ns);
    pipeline->socket->served_here += batch->count;
    bool within = record_stays(simulation, buffer, &rows_sum_ns);
    if (ended == 0) {
        return;
    }
    double all_sum_ns = kvc_recorder_sum(sent_ns, done_ns, ended, &unused_ns);
    kvc_recorder_completions(&simulation->replica.recorder, now_ns, sent_ns, done_ns, ended, &first, &last);
    for (uint32_t i = 0; i < ended; i++) {
        uint32_t state = buffer->aside[rows[i]];
        bool filled = state == KVC_MEGAKV_ASIDE_FILLED, updated = state == KVC_MEGAKV_ASIDE_UPDATED;
        bool hit = batch->op[rows[i]] == KVC_OP_GET;
        if (i >= first && i < last) {
            simulation->completed++;
            simulation->hits += hit;
            simulation->misses += filled;
            simulation->writes += !hit && !filled;
            simulation->sets += updated;
        }
        if (hit || filled || times_all) {
            sent_ns[timed] = sent_ns[i];
            done_ns[timed++] = done_ns[i];
        }
    }
    double timed_sum_ns =
        kvc_recorder_latencies(&simulation->replica.recorder, now_ns, sent_ns, done_ns, timed);
    kvc_policy_latencies(&simulation->replica.policy, pipeline->socket->number, sent_ns, done_ns, timed);
    if (within) {
        simulation->written += ended - timed;
        simulation->write_latency_sum_ns += all_sum_ns - timed_sum_ns;
    }
}

/* Makes the times of all rows longer by the factor `stretch`, except for the path of a response to the
 * client.
 */
static void stretch_rows(struct kvc_megakv_simulation *simulation, uint32_t count, double start_ns,
                         double stretch)
{
    const struct kvc_nic *nic = simulation->config->nic;
    double way_ns =
        simulation->config->feed == KVC_MEGAKV_NETWORK
            ? simulation->path_ns + kvc_nic_wire_ns(nic, kvc_nic_payload_bytes(nic), (uint32_t)nic->ports)
            : 0;
    for (uint32_t i = 0; i < count; i++) {
        double sending_ns = simulation->done_ns[i] - way_ns - start_ns;
        simulation->done_ns[i] += (sending_ns > 0 ? sending_ns : 0) * (stretch - 1);
    }
}

/* Returns whether the wire may delay a batch that takes alone_ns: whether its responses would not have left
 * by then if all senders of the socket sent at once. */
static bool wire_binds(const struct kvc_megakv_socket *socket, double wire_bytes, double alone_ns)
{
    const struct kvc_megakv_simulation *simulation = socket->simulation;
    double wire_ns = wire_bytes / kvc_nic_port(simulation->config->nic).bytes_per_s * 1e9;
    return wire_ns * simulation->streams * socket->answers.stretch > alone_ns;
}

/* Returns whether the memory may delay a batch: whether it would be short if all senders read at once, beside
 * what receivers and copies took in the cycle before. */
static bool memory_binds(const struct kvc_megakv_socket *socket, double channel_ns, double alone_ns)
{
    const struct kvc_megakv_simulation *simulation = socket->simulation;
    double channels = simulation->streams * channel_ns / alone_ns + socket->received_channels;
    return channels > kvc_dram_channels(simulation->config->dram) || socket->memory.stretch > 1 + 1e-6;
}

/* Computes, reads the memory and sends at the same time. Returns when all of it has ended [ns]. What cannot
 * delay the batch is posted with the next cycle. */
static double work(struct kvc_megakv_pipeline *pipeline, const struct batch_work *batch, double alone_ns)
{
    struct kvc_megakv_socket *socket = pipeline->socket;
    const struct kvc_megakv_config *config = socket->simulation->config;
    double speed = socket->simulation->costs.core_speed,
           channel_ns = kvc_dram_channel_ns(config->dram, &batch->load),
           wire_bytes =
               config->feed == KVC_MEGAKV_NETWORK ? kvc_nic_wire_bytes(config->nic, batch->bytes) : 0;
    const struct kvc_draw draws[] = {
        {(uint32_t)socket->device.cpu,
         (config->cpu->threads_per_core > 1 ? batch->compute_ns : batch->cost_ns) * speed, alone_ns},
        {(uint32_t)socket->device.dram, channel_ns, alone_ns},
    };
    bool reads = memory_binds(socket, channel_ns, alone_ns),
         sends = wire_bytes > 0 && wire_binds(socket, wire_bytes, alone_ns);
    struct kvc_work work;
    double start_ns = kvc_engine_now_ns();
    kvc_engine_start(&work, draws, reads ? 2 : 1);
    socket->answered_channel_ns += reads ? 0 : channel_ns;
    socket->answered_bytes += sends ? 0 : wire_bytes;
    if (sends) {
        kvc_engine_transfer(socket->answers.from, socket->answers.to, wire_bytes);
    }
    kvc_engine_finish(&work);
    kvc_stalls_wait(&pipeline->send_core->stalls, start_ns);
    return kvc_engine_now_ns();
}

/* Lets clients fill what missed. */
static void fill_misses(struct kvc_source *source, const struct kvc_megakv_buffer *buffer,
                        const double *done_ns)
{
    for (uint32_t i = 0; i < buffer->batch->count; i++) {
        if (buffer->batch->op[i] == KVC_OP_GET && buffer->outcome[i] != KVC_MEGAKV_HIT) {
            kvc_source_miss_row(source, buffer->batch, i, done_ns[i]);
        }
    }
}

static void serve(struct kvc_megakv_pipeline *pipeline, struct kvc_megakv_buffer *buffer)
{
    struct kvc_megakv_socket *socket = pipeline->socket;
    struct kvc_megakv_simulation *simulation = socket->simulation;
    struct kvc_batch *batch = buffer->batch;
    uint32_t count = batch->count;
    if (count == 0) {
        return;
    }
    double now_ns = kvc_engine_now_ns();
    kvc_megakv_use_cores(socket);
    if (socket->shard != NULL) {
        read_items(pipeline, buffer);
    }
    find_outcomes(socket, buffer);
    double pace_ns = simulation->shared ? pace_of(pipeline, buffer) : 0;
    struct batch_work taken = {0};
    double alone_ns = send_rows(pipeline, buffer, now_ns, pace_ns, &taken) - now_ns;
    size_t bytes = count * sizeof(*buffer->done_ns);
    memcpy(buffer->done_ns, simulation->done_ns, bytes);
    memcpy(buffer->outcome, simulation->read_result, count);
    if (simulation->scenario->workload.arrival == KVC_ARRIVAL_CLOSED) {
        /* Clients react to responses before the batch ends, so its end is estimated. */
        stretch_rows(simulation, count, now_ns, pipeline->stretch);
        kvc_source_complete(simulation->replica.source, batch->client, simulation->done_ns, count);
    }
    if (socket->aside !=
        NULL) { /* Requests that miss continue before the batch ends, so its end is also estimated. */
        stretch_rows(simulation, count, now_ns, pipeline->stretch);
        kvc_megakv_aside_answer(socket->aside, buffer, buffer->outcome, simulation->done_ns,
                                pipeline->number);
    }
    if (socket->aside == NULL && kvc_source_fills(simulation->replica.source)) {
        stretch_rows(simulation, count, now_ns, pipeline->stretch);
        fill_misses(simulation->replica.source, buffer, simulation->done_ns);
    }
    double end_ns = work(pipeline, &taken, alone_ns);
    pipeline->stretch = alone_ns > 0 ? fmax((end_ns - now_ns) / alone_ns, 1) : 1;
    /* Other senders have used the scratch memory meanwhile. */
    memcpy(simulation->done_ns, buffer->done_ns, bytes);
    memcpy(simulation->read_result, buffer->outcome, count);
    stretch_rows(simulation, count, now_ns, pipeline->stretch);
    if (socket->aside != NULL) {
        record_ended(pipeline, buffer, end_ns);
    } else {
        record(pipeline, buffer, end_ns);
    }
    double own_ns = simulation->shared ? buffer->gets * pace_ns : end_ns - now_ns;
    socket->send_busy_ns += own_ns;
    kvc_recorder_busy(&simulation->replica.recorder, KVC_MEGAKV_SEND, end_ns - own_ns, end_ns);
    kvc_recorder_busy(&simulation->replica.recorder, KVC_MEGAKV_TX,
                      end_ns - kvc_nic_wire_ns(simulation->config->nic, taken.bytes, 1), end_ns);
    kvc_timeline_event(simulation->replica.context->timeline, socket->number, 1 + pipeline->number, "send",
                       now_ns, end_ns - now_ns, count);
}

void kvc_megakv_sender_main(void *data)
{
    struct kvc_megakv_pipeline *pipeline = data;
    for (;;) {
        kvc_gate_wait(pipeline->ready_gate);
        struct kvc_megakv_buffer *buffer = pipeline->ready[pipeline->ready_head++ % KVC_MEGAKV_BUFFERS_MAX];
        serve(pipeline, buffer);
        pipeline->socket->sent_rows += buffer->batch->count;
        if (pipeline->socket->simulation->shared) {
            kvc_gate_post(pipeline->socket->sent_gate);
        }
        buffer->batch->count = 0;
        buffer->gets = 0;
        buffer->received_sum_ns = 0;
        pipeline->free_stack[pipeline->free_count++] = buffer;
        kvc_gate_post(pipeline->free_gate);
    }
}
