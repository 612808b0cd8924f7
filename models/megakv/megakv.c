/* Mega-KV's entry in the registry, and the frame of its simulation. Mega-KV is the design by Zhang et al., "A
 * distributed in-memory key-value store system on heterogeneous CPU-GPU cluster", VLDB J. 26(5), 2017. */
#include "models/megakv/megakv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/shards/store.h"
#include "models/megakv/config.h"
#include "models/megakv/cost_profile.h"
#include "models/megakv/machine.h"
#include "models/megakv/predict.h"
#include "models/megakv/real/calibrate.h"
#include "models/megakv/real/measure.h"
#include "models/megakv/resources.h"
#include "models/megakv/simulation.h"
#include "models/simulate.h"
#include "sim/base/array.h"
#include "sim/devices/network.h"
#include "sim/run/replica_memory.h"

void kvc_megakv_count_launch(struct kvc_megakv_simulation *simulation, double now_ns, double late_ns)
{
    const struct kvc_recorder *recorder = &simulation->replica.recorder;
    if (now_ns < recorder->from_ns || now_ns >= recorder->until_ns) {
        return;
    }
    if (simulation->launches == 0) {
        simulation->first_launch_ns = now_ns;
    }
    simulation->last_launch_ns = now_ns;
    simulation->launches++;
    /* Less than a nanosecond is a rounding error of the event times. */
    if (late_ns < 1) {
        return;
    }
    simulation->late_launches++;
    simulation->late_ns += late_ns;
    simulation->late_ns_max = fmax(simulation->late_ns_max, late_ns);
}

static void open_buffer(struct kvc_megakv_buffer *buffer, uint32_t rows, uint32_t key_stride,
                        uint32_t streams, bool database)
{
    buffer->batch = kvc_batch_create(rows, key_stride);
    buffer->received_ns = kvc_array_of(rows, sizeof(*buffer->received_ns));
    buffer->location = kvc_array_of(rows, sizeof(*buffer->location));
    buffer->sampled = kvc_array_of(rows, sizeof(*buffer->sampled));
    buffer->done_ns = kvc_array_of(rows, sizeof(*buffer->done_ns));
    buffer->outcome = kvc_array_of(rows, sizeof(*buffer->outcome));
    buffer->launched_gets = kvc_array_of(streams, sizeof(*buffer->launched_gets));
    buffer->aside = database ? kvc_array_of(rows, sizeof(*buffer->aside)) : NULL;
    buffer->connection = database ? kvc_array_of(rows, sizeof(*buffer->connection)) : NULL;
}

static void close_buffer(struct kvc_megakv_buffer *buffer)
{
    kvc_batch_free(buffer->batch);
    free(buffer->received_ns);
    free(buffer->location);
    free(buffer->sampled);
    free(buffer->done_ns);
    free(buffer->outcome);
    free(buffer->launched_gets);
    free(buffer->aside);
    free(buffer->connection);
}

/* Returns the slowness of a sender. The first sender has the slowest core; the others share the rest, so
 * that the mean is kept. */
static double slowness_of(const struct kvc_megakv_simulation *simulation, uint32_t number)
{
    double slowest = simulation->costs.slowest_sender, senders = simulation->streams;
    if (simulation->shared || senders < 2) {
        return 1;
    }
    return number == 0 ? slowest : (senders - slowest) / (senders - 1);
}

/* Returns the rows that a buffer has memory for: the rows of a launch, and the rows that wait in a full
 * receive ring. Memory that is never written costs nothing. */
static uint32_t buffer_rows(const struct kvc_megakv_config *config)
{
    return KVC_MEGAKV_ROWS_MAX + ((uint32_t)config->nic->ring_frames + 2) * config->frame_requests;
}

static double buffer_memory_bytes(double room, double rows, uint32_t key_stride, bool database)
{
    const struct kvc_megakv_buffer *buffer = NULL;
    return kvc_batch_memory_bytes(room, rows, key_stride) +
           kvc_array_memory_bytes(room, rows, sizeof(*buffer->received_ns)) +
           kvc_array_memory_bytes(room, rows, sizeof(*buffer->location)) +
           kvc_array_memory_bytes(room, rows, sizeof(*buffer->sampled)) +
           kvc_array_memory_bytes(room, rows, sizeof(*buffer->done_ns)) +
           kvc_array_memory_bytes(room, rows, sizeof(*buffer->outcome)) +
           (database ? kvc_array_memory_bytes(room, rows, sizeof(*buffer->aside)) +
                           kvc_array_memory_bytes(room, rows, sizeof(*buffer->connection))
                     : 0);
}

static double utilization_of(const struct kvc_result *predicted, const char *name)
{
    for (uint32_t i = 0; i < predicted->stage_count; i++) {
        if (strcmp(predicted->stage[i].name, name) == 0) {
            return predicted->stage[i].utilization_frac;
        }
    }
    return 0;
}

/* Returns the rows that each buffer holds at most: the requests of a cycle. The buffers of a store that lags
 * behind its clients are full. Saturating clients fill the buffers of receivers that wait for the index or
 * for the senders; otherwise they send what the receivers take until the index can take a buffer. */
static double buffer_rows_used(const struct kvc_scenario *scenario, const struct kvc_result *predicted)
{
    static const double requests_per_ns = 1e-3, served_frac = 0.999; /* At 1 Mops; without rounding. */
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    double mops = predicted->throughput_mops, rate_mops = kvc_workload_rate_max_mops(workload);
    if (workload->arrival == KVC_ARRIVAL_TRACE) {
        const struct kvc_trace_facts *facts = &workload->trace.facts;
        mops = facts->end_ns > 0 ? facts->requests / facts->end_ns / requests_per_ns : 0;
    }
    double rows = mops * requests_per_ns * config->cycle_ns / config->shards / config->streams;
    double receive = utilization_of(predicted, "receive");
    bool waits_for_index = utilization_of(predicted, "index") >= served_frac ||
                           kvc_metrics_get(&predicted->model, "feasible") == 0;
    bool waits_for_senders = config->threads == KVC_MEGAKV_OWN_THREADS && receive < served_frac &&
                             utilization_of(predicted, "send") >= served_frac;
    if (workload->arrival == KVC_ARRIVAL_SATURATE && (waits_for_index || waits_for_senders)) {
        return KVC_MEGAKV_ROWS_MAX;
    }
    if (workload->arrival == KVC_ARRIVAL_SATURATE && receive > 0) {
        return rows / receive;
    }
    return isfinite(rate_mops) && mops < served_frac * rate_mops ? buffer_rows(config) : rows;
}

/* Returns the memory of the buffers of a replica for which the closed form predicts this [bytes]. */
static double run_memory_bytes(const struct kvc_scenario *scenario, const struct kvc_result *predicted)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    uint32_t key_stride = kvc_workload_key_stride(&scenario->workload);
    double room = buffer_rows(config), rows = fmin(buffer_rows_used(scenario, predicted), room);
    double pipeline_bytes =
        sizeof(struct kvc_megakv_pipeline) + (double)config->nic->ring_frames * sizeof(double) +
        config->buffers * buffer_memory_bytes(room, rows, key_stride, config->database != NULL);
    return (double)config->shards * config->streams * pipeline_bytes;
}

static void open_stream(struct kvc_megakv_stream *stream, struct kvc_megakv_socket *socket, uint32_t number,
                        struct kvc_megakv_pipeline *pipeline)
{
    stream->socket = socket;
    stream->number = number;
    stream->pipeline = pipeline;
}

static void open_share(struct kvc_megakv_share *share, int32_t host, int32_t from, int32_t to)
{
    *share = (struct kvc_megakv_share){.host = (uint32_t)host,
                                       .from = (uint32_t)from,
                                       .to = (uint32_t)to,
                                       .stretch = 1,
                                       .gate = kvc_gate_create(0)};
}

static void open_pipeline(struct kvc_megakv_pipeline *pipeline, struct kvc_megakv_socket *socket,
                          uint32_t number, uint32_t key_stride)
{
    struct kvc_megakv_simulation *simulation = socket->simulation;
    uint32_t buffers = simulation->config->buffers;
    pipeline->socket = socket;
    pipeline->number = number;
    for (uint32_t i = 0; i < buffers; i++) {
        open_buffer(&pipeline->buffers[i], buffer_rows(simulation->config), key_stride, simulation->streams,
                    simulation->config->database != NULL);
        pipeline->free_stack[i] = &pipeline->buffers[buffers - 1 - i];
    }
    pipeline->filling = pipeline->free_stack[buffers - 1];
    pipeline->receive_core = simulation->shared ? &socket->first_core : &pipeline->own_receive_core;
    pipeline->send_core = simulation->shared
                              ? &socket->send_cores[number % (simulation->config->cpu->cores - 1)]
                              : &pipeline->own_send_core;
    pipeline->free_count = buffers - 1;
    pipeline->free_gate = kvc_gate_create(buffers - 1);
    pipeline->ready_gate = kvc_gate_create(0);
    pipeline->stretch = 1;
    open_stream(&pipeline->stream, socket, number, pipeline);
    pipeline->core_stretch = 1;
    pipeline->slowness = slowness_of(simulation, number);
    pipeline->lookup_mix = simulation->costs.lookup_mix;
    pipeline->started_ns = kvc_array_of(simulation->config->nic->ring_frames, sizeof(*pipeline->started_ns));
}

/* Frees the launches that a stream would have ended. */
static void close_stream(struct kvc_megakv_stream *stream)
{
    for (; stream->head != stream->tail; stream->head++) {
        struct kvc_megakv_launch *launch = stream->jobs[stream->head % KVC_MEGAKV_STREAM_JOBS].launch;
        if (--launch->running == 0) {
            kvc_megakv_writes_free(&launch->writes);
            free(launch);
        }
    }
}

static void close_pipeline(struct kvc_megakv_pipeline *pipeline)
{
    for (uint32_t i = 0; i < KVC_MEGAKV_BUFFERS_MAX && pipeline->buffers[i].batch != NULL; i++) {
        close_buffer(&pipeline->buffers[i]);
    }
    kvc_gate_free(pipeline->free_gate);
    kvc_gate_free(pipeline->ready_gate);
    close_stream(&pipeline->stream);
    free(pipeline->started_ns);
}

/* Opens the database of a socket, if there is one. */
static void open_aside(struct kvc_megakv_socket *socket, uint32_t key_stride)
{
    const struct kvc_megakv_simulation *simulation = socket->simulation;
    if (simulation->config->database == NULL) {
        return;
    }
    socket->aside = kvc_array_of(1, sizeof(*socket->aside));
    kvc_megakv_aside_open(socket->aside, simulation->config->database, simulation->replica.source, key_stride,
                          simulation->replica.context->seed, socket->number);
    open_share(&socket->queried, socket->device.database, KVC_SOCKET_NONE, KVC_SOCKET_NONE);
}

struct kvc_megakv_core *kvc_megakv_core_of(struct kvc_megakv_socket *socket, uint32_t number)
{
    uint32_t streams = socket->simulation->streams;
    uint64_t senders = socket->simulation->config->cpu->cores - 1;
    if (number == 0) {
        return &socket->first_core;
    }
    if (number <= streams) {
        return socket->simulation->shared && number > senders ? NULL
                                                              : socket->pipelines[number - 1].send_core;
    }
    return socket->simulation->shared || number > 2 * streams
               ? NULL
               : socket->pipelines[number - 1 - streams].receive_core;
}

static void open_socket(struct kvc_megakv_simulation *simulation, uint32_t number, uint32_t key_stride)
{
    uint64_t seed = simulation->replica.context->seed;
    struct kvc_megakv_socket *socket = &simulation->sockets[number];
    socket->simulation = simulation;
    socket->number = number;
    socket->shard = simulation->store->shards != NULL ? &simulation->store->shards[number] : NULL;
    uint32_t sockets = (uint32_t)simulation->scenario->node.sockets;
    snprintf(socket->name, sizeof(socket->name), "node%u.socket%u", number / sockets, number % sockets);
    struct kvc_rss_params rss = kvc_nic_rss_params(simulation->config->nic, simulation->streams);
    rss.clients = kvc_workload_flows(&simulation->scenario->workload);
    rss.connections = kvc_workload_connections(&simulation->scenario->workload);
    rss.server = number;
    rss.seed = seed;
    socket->rss = kvc_rss_open(&rss, NULL); /* kvc_megakv_check() has checked the queues. */
    kvc_rng_init(&socket->spread, seed, "megakv.rss", number);
    kvc_rng_init(&socket->thinning, seed, "megakv.thinning", number);
    kvc_rng_init(&socket->outcome, seed, "megakv.outcome", number);
    socket->device = simulation->devices[number];
    socket->receive_gate = kvc_gate_create(0);
    socket->sent_gate = kvc_gate_create(0);
    if (!simulation->on_thread) {
        int32_t gpu = socket->device.gpu, dram = socket->device.dram, copy = socket->device.copy;
        socket->gpu = kvc_gpu_streams_create(simulation->streams + 1);
        socket->launch_gate = kvc_gate_create(0);
        socket->ended_gate = kvc_gate_create(0);
        open_share(&socket->copies_in, dram, dram, copy);
        open_share(&socket->copies_out, dram, copy, dram);
        open_share(&socket->kernels, gpu, KVC_SOCKET_NONE, KVC_SOCKET_NONE);
    }
    socket->port_free_ns = kvc_array_of(simulation->config->nic->ports, sizeof(*socket->port_free_ns));
    open_stream(&socket->insert_stream, socket, simulation->streams, NULL);
    open_share(&socket->memory, socket->device.dram, socket->device.clients, socket->device.dram);
    open_share(&socket->answers, socket->device.dram, socket->device.dram, socket->device.clients);
    open_aside(socket, key_stride);
    if (simulation->shared) {
        socket->send_cores = kvc_array_of(simulation->config->cpu->cores - 1, sizeof(*socket->send_cores));
    }
    socket->pipelines = kvc_array_of(simulation->streams, sizeof(*socket->pipelines));
    socket->launched = kvc_array_of(simulation->streams, sizeof(*socket->launched));
    struct kvc_timeline *timeline = simulation->replica.context->timeline;
    kvc_timeline_row(timeline, number, 0, socket->name, simulation->on_thread ? "index" : "inserts");
    for (uint32_t i = 0; i < simulation->streams; i++) {
        char row[32];
        snprintf(row, sizeof(row), "sender %u", i);
        kvc_timeline_row(timeline, number, 1 + i, socket->name, row);
        snprintf(row, sizeof(row), "stream %u", i);
        kvc_timeline_row(timeline, number, 1 + simulation->streams + i, socket->name, row);
        open_pipeline(&socket->pipelines[i], socket, i, key_stride);
    }
    struct kvc_megakv_core *core;
    for (uint32_t i = 0; (core = kvc_megakv_core_of(socket, i)) != NULL; i++) {
        kvc_stalls_open(&core->stalls, &simulation->scenario->node, seed, (uint64_t)number << 32 | i);
    }
}

static void close_socket(struct kvc_megakv_socket *socket)
{
    for (uint32_t i = 0; i < socket->simulation->streams; i++) {
        close_pipeline(&socket->pipelines[i]);
    }
    close_stream(&socket->insert_stream);
    kvc_megakv_writes_free(&socket->writes);
    kvc_gate_free(socket->receive_gate);
    kvc_gate_free(socket->sent_gate);
    kvc_gpu_streams_free(socket->gpu);
    kvc_gate_free(socket->launch_gate);
    kvc_gate_free(socket->ended_gate);
    kvc_gate_free(socket->copies_in.gate);
    kvc_gate_free(socket->copies_out.gate);
    kvc_gate_free(socket->kernels.gate);
    kvc_gate_free(socket->memory.gate);
    kvc_gate_free(socket->answers.gate);
    if (socket->aside != NULL) {
        kvc_megakv_aside_close(socket->aside);
        kvc_gate_free(socket->queried.gate);
    }
    free(socket->aside);
    free(socket->port_free_ns);
    kvc_rss_close(socket->rss);
    free(socket->send_cores);
    free(socket->pipelines);
    free(socket->launched);
}

static void open_machines(void *state, const struct kvc_run_context *context, struct kvc_platform *platform)
{
    struct kvc_megakv_simulation *simulation = state;
    const struct kvc_scenario *scenario = context->scenario;
    simulation->scenario = scenario;
    simulation->store = context->state;
    simulation->config = kvc_megakv_config_of(scenario);
    simulation->streams = simulation->config->streams;
    simulation->socket_count = simulation->config->shards;
    kvc_megakv_behind_open(&simulation->behind, scenario);
    if (simulation->config->database != NULL) {
        kvc_megakv_behind_costs(&simulation->behind, &simulation->costs);
    } else {
        simulation->costs = kvc_megakv_costs_of(scenario);
    }
    simulation->shared = simulation->config->threads == KVC_MEGAKV_SHARED_THREADS;
    simulation->on_thread = simulation->config->index_on == KVC_MEGAKV_INDEX_ON_THREAD;
    const struct kvc_nic *nic = simulation->config->nic;
    simulation->path_ns =
        kvc_network_path_ns(&scenario->node, kvc_nic_wire_bytes(nic, kvc_nic_payload_bytes(nic)));
    simulation->fixed_sizes = kvc_workload_has_one_size(&scenario->workload);
    simulation->platform = platform;
    simulation->devices = kvc_array_of(simulation->socket_count, sizeof(*simulation->devices));
    kvc_megakv_machine(scenario, platform, simulation->devices);
}

static void set_source(void *state, struct kvc_replica_options *options)
{
    const struct kvc_megakv_simulation *simulation = state;
    const struct kvc_megakv_config *config = simulation->config;
    options->source = kvc_megakv_source_of(simulation->scenario, options->source.seed);
    options->source.frame_requests = config->frame_requests;
    options->window_ns = config->cycle_ns * config->delay;
}

static void close_simulation(void *state)
{
    struct kvc_megakv_simulation *simulation = state;
    for (uint32_t i = 0; i < simulation->socket_count && simulation->sockets != NULL; i++) {
        close_socket(&simulation->sockets[i]);
    }
    free(simulation->sockets);
    free(simulation->rows);
    free(simulation->hashes);
    free(simulation->locations);
    free(simulation->evicted);
    free(simulation->read_result);
    free(simulation->done_ns);
    free(simulation->column_a);
    free(simulation->column_b);
    free(simulation->response);
    free(simulation->devices);
}

static bool drained(const void *data)
{
    const struct kvc_megakv_simulation *simulation = data;
    for (uint32_t s = 0; s < simulation->socket_count; s++) {
        const struct kvc_megakv_socket *socket = &simulation->sockets[s];
        if (socket->aside != NULL && socket->aside->free_count < socket->aside->requests) {
            return false; /* Requests are at the database. */
        }
        for (uint32_t p = 0; p < simulation->streams; p++) {
            const struct kvc_megakv_pipeline *pipeline = &socket->pipelines[p];
            for (uint32_t b = 0; b < simulation->config->buffers; b++) {
                if (pipeline->buffers[b].batch->count > 0) {
                    return false;
                }
            }
        }
    }
    return true;
}

static void spawn_socket(struct kvc_megakv_socket *socket)
{
    const struct kvc_megakv_simulation *simulation = socket->simulation;
    kvc_engine_spawn("scheduler", kvc_megakv_scheduler_main, socket);
    kvc_engine_spawn("memory", kvc_megakv_share_main, &socket->memory);
    kvc_engine_spawn("answers", kvc_megakv_share_main, &socket->answers);
    if (socket->aside != NULL) {
        kvc_engine_spawn("database", kvc_megakv_share_main, &socket->queried);
    }
    if (!simulation->shared) {
        kvc_engine_spawn("receivers", kvc_megakv_receivers_main, socket);
    }
    if (kvc_megakv_polls(simulation->scenario)) {
        kvc_engine_spawn("polling", kvc_megakv_poll_main, socket);
    }
    if (!simulation->on_thread) {
        kvc_engine_spawn("streams", kvc_megakv_streams_main, socket);
        kvc_engine_spawn("kernels", kvc_megakv_share_main, &socket->kernels);
        kvc_engine_spawn("copies in", kvc_megakv_share_main, &socket->copies_in);
        kvc_engine_spawn("copies out", kvc_megakv_share_main, &socket->copies_out);
    }
    for (uint32_t i = 0; i < simulation->streams; i++) {
        struct kvc_megakv_pipeline *pipeline = &socket->pipelines[i];
        kvc_engine_spawn("sender", kvc_megakv_sender_main, pipeline);
    }
}

static void open_simulation(void *state)
{
    struct kvc_megakv_simulation *simulation = state;
    uint32_t key_stride = kvc_workload_key_stride(&simulation->scenario->workload);
    size_t rows = buffer_rows(simulation->config);
    simulation->rows = kvc_array_of(rows, sizeof(*simulation->rows));
    simulation->hashes = kvc_array_of(rows, sizeof(*simulation->hashes));
    simulation->locations = kvc_array_of(rows, sizeof(*simulation->locations));
    simulation->evicted = kvc_array_of(rows, sizeof(*simulation->evicted));
    simulation->read_result = kvc_array_of(rows, sizeof(*simulation->read_result));
    simulation->done_ns = kvc_array_of(rows, sizeof(*simulation->done_ns));
    simulation->column_a = kvc_array_of(rows, sizeof(*simulation->column_a));
    simulation->column_b = kvc_array_of(rows, sizeof(*simulation->column_b));
    simulation->response = kvc_array_of(KVC_MEGAKV_RESPONSE_BYTES, 1);
    simulation->sockets = kvc_array_of(simulation->socket_count, sizeof(*simulation->sockets));
    for (uint32_t i = 0; i < simulation->socket_count; i++) {
        open_socket(simulation, i, key_stride);
    }
    kvc_megakv_open_policy(simulation);
    for (uint32_t i = 0; i < simulation->socket_count; i++) {
        spawn_socket(&simulation->sockets[i]);
    }
}

static void set_totals(const void *state, struct kvc_result *result)
{
    const struct kvc_megakv_simulation *simulation = state;
    result->completed = simulation->completed;
    result->hits = simulation->hits;
    result->misses = simulation->misses;
    result->sets = simulation->sets;
    result->deletes = simulation->writes - simulation->sets;
    result->preload_wall_s = simulation->store->preload_wall_s;
}

static const char *const parts[] = {"receive, batch", "index", "send", NULL};

static const struct kvc_simulator simulator = {
    .state_bytes = sizeof(struct kvc_megakv_simulation),
    .machine = open_machines,
    .source = set_source,
    .open = open_simulation,
    .drained = drained,
    .count = kvc_megakv_count,
    .parts = parts,
    .totals = set_totals,
    .stages = kvc_megakv_stages,
    .report = kvc_megakv_report,
    .close = close_simulation,
};

static enum kvc_status run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    return kvc_simulate_replica(&simulator, context, diag);
}

/* ---- registry ---- */

static double memory_bytes(const struct kvc_scenario *scenario)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    const struct kvc_shards_params store = kvc_megakv_store_params_of(scenario);
    struct kvc_result *predicted = kvc_array_of(1, sizeof(*predicted));
    struct kvc_diag unused = {0};
    double window_ns = config->cycle_ns * config->delay;
    if (kvc_megakv_predict(scenario, predicted, &unused) != KVC_OK) {
        predicted->throughput_mops = 0;
    }
    double writes =
        scenario->workload.set_frac * kvc_replica_requests(scenario, window_ns, predicted->throughput_mops);
    double bytes = kvc_shards_memory_bytes(scenario, &store, config->means.item_bytes, writes) +
                   run_memory_bytes(scenario, predicted) +
                   kvc_replica_memory_bytes(scenario, window_ns, config->shards);
    free(predicted);
    return bytes;
}

static enum kvc_status prepare(const struct kvc_scenario *scenario, uint64_t seed, void **state,
                               const struct kvc_progress *progress, struct kvc_diag *diag)
{
    struct kvc_shards *store = NULL;
    enum kvc_status status = kvc_megakv_store_create(scenario, seed, progress, &store, diag);
    *state = store;
    return status;
}

static uint32_t sizes(const struct kvc_scenario *scenario, double *size)
{
    const struct kvc_shards_params params = kvc_megakv_store_params_of(scenario);
    return kvc_shards_sizes(&params, size);
}

static void platform(const struct kvc_scenario *scenario, struct kvc_platform *platform)
{
    kvc_megakv_machine(scenario, platform, NULL);
}

static const struct kvc_model_device devices[] = {
    {&kvc_cpu_kind, "xeon-e5-2650v2"},
    {&kvc_dram_kind, "ddr3-1600-e5v2"},
    {&kvc_gpu_kind, "tesla-k40c"},
    {&kvc_nic_kind, "xl710-2x40g"},
    {&kvc_pcie_kind, "pcie3-k40c"},
    {&kvc_network_kind, "direct-cable"},
    {&kvc_megakv_cost_profile_kind, "derived-costs"},
    {&kvc_database_kind, NULL},
    {NULL, NULL},
};

const struct kvc_model kvc_megakv_model = {
    .name = "megakv",
    .help = "CPU receivers and senders, cuckoo index on the GPU, periodic scheduling with delayed inserts",
    .paper = "Zhang et al., VLDB J. 26(5), 2017",
    .options = &kvc_megakv_option_table,
    .has_sockets = true,
    .has_rest_power = true,
    .takes_power = true,
    .takes_memory_state = true,
    .takes_stalls = true,
    .devices = devices,
    .takes_tenants = true,
    .config_bytes = sizeof(struct kvc_megakv_config),
    .resolve = kvc_megakv_resolve,
    .check = kvc_megakv_check,
    .rooms = kvc_megakv_rooms,
    .memory_bytes = memory_bytes,
    .platform = platform,
    .stages = kvc_megakv_stages,
    .resources = kvc_megakv_resources,
    .predict = kvc_megakv_predict,
    .forecast = kvc_megakv_forecast,
    .launch_ns = kvc_megakv_predict_launch_ns,
    .prepare = prepare,
    .sizes = sizes,
    .run = run,
    .measurable = &kvc_megakv_measurable,
    .calibrate = kvc_megakv_calibrate,
};
