#include "models/memcachedgpu/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/memcachedgpu/machine.h"
#include "models/memcachedgpu/predict.h"
#include "models/memcachedgpu/simulation.h"
#include "sim/base/array.h"
#include "sim/devices/network.h"
#include "sim/run/replica_memory.h"

enum { STAGED_ROWS = 64, ALIGN = 16, VALUES_BYTES = 1 << 21 };

static void open_queue(struct kvc_memcachedgpu_queue *queue)
{
    queue->gate = kvc_gate_create(0);
}

static struct kvc_memcachedgpu_thread *open_threads(struct kvc_memcachedgpu_server *server, uint32_t count)
{
    struct kvc_memcachedgpu_thread *threads = kvc_array_of(count + 1, sizeof(*threads));
    for (uint32_t i = 0; i < count; i++) {
        threads[i].server = server;
        threads[i].number = i;
        open_queue(&threads[i].queue);
    }
    return threads;
}

static void close_threads(struct kvc_memcachedgpu_thread *threads, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        kvc_gate_free(threads[i].queue.gate);
        kvc_poller_free(threads[i].poller);
    }
    free(threads);
}

static uint32_t writers_of(const struct kvc_memcachedgpu_config *config)
{
    return (uint32_t)(config->options->set_threads + config->options->set_connections);
}

/* Returns a power of two of releases: a batch has at most one under way. */
static uint32_t releases_of(const struct kvc_memcachedgpu_config *config)
{
    uint32_t room = 16;
    while (room < config->buffers / config->batch + 2 * (uint64_t)config->streams + 2) {
        room *= 2;
    }
    return room;
}

static void open_timeline(const struct kvc_memcachedgpu_server *server)
{
    const struct kvc_memcachedgpu_config *config = server->simulation->config;
    struct kvc_timeline *timeline = server->simulation->replica.context->timeline;
    char node[KVC_PLATFORM_NAME_MAX], row[32];
    snprintf(node, sizeof(node), "node%u", server->number);
    kvc_timeline_row(timeline, server->number, 0, node, "pre");
    for (uint32_t i = 0; i < config->post_threads; i++) {
        snprintf(row, sizeof(row), "post %u", i);
        kvc_timeline_row(timeline, server->number, 1 + i, node, row);
    }
    for (uint32_t i = 0; i < config->streams; i++) {
        snprintf(row, sizeof(row), "stream %u", i);
        kvc_timeline_row(timeline, server->number, 1 + config->post_threads + i, node, row);
    }
    if (config->options->background_blocks > 0) {
        kvc_timeline_row(timeline, server->number, 1 + config->post_threads + config->streams, node,
                         "background");
    }
}

static void open_gates(struct kvc_memcachedgpu_server *server)
{
    const struct kvc_memcachedgpu_config *config = server->simulation->config;
    open_queue(&server->full);
    open_queue(&server->launched);
    server->released = kvc_gate_create(0);
    server->wanted = kvc_gate_create(0);
    server->streams_free = kvc_gate_create(config->streams);
    server->copy_in = kvc_gate_create(1);
    server->copy_out = kvc_gate_create(1);
    server->written = kvc_gate_create(0);
    server->set_threads = kvc_gate_create((uint32_t)config->options->set_threads);
    server->table_writer = kvc_gate_create(1);
    server->answered = kvc_gate_create(0);
    server->lock = (struct kvc_memcachedgpu_lock){.since_ns = NAN, .released = kvc_gate_create(0)};
    if (config->writes) {
        server->driver = kvc_gate_create(1);
    }
}

void kvc_memcachedgpu_take(struct kvc_memcachedgpu_share *share, double amount, double alone_ns)
{
    static const double together_ns = 100e3;
    share->amount += amount;
    share->alone_ns += alone_ns;
    if (share->alone_ns >= together_ns) {
        kvc_slice_mover_post(&share->mover, share->amount, share->alone_ns);
        share->amount = share->alone_ns = 0;
    }
}

static void open_shares(struct kvc_memcachedgpu_server *server)
{
    const struct kvc_socket *device = &server->device;
    bool to_gpu = server->simulation->config->receive == KVC_MEMCACHEDGPU_RECEIVE_GPU;
    kvc_slice_mover_open_transfer(&server->wire_in.mover, (uint32_t)device->clients,
                                  (uint32_t)(to_gpu ? device->copy : device->dram));
    kvc_slice_mover_open_transfer(&server->wire_out.mover, (uint32_t)device->dram, (uint32_t)device->clients);
    kvc_slice_mover_open_work(&server->receiving.mover, (uint32_t)device->cpu);
    kvc_slice_mover_open_work(&server->copying.mover, (uint32_t)device->dram);
}

static void open_server(struct kvc_memcachedgpu_simulation *simulation, uint32_t number)
{
    const struct kvc_memcachedgpu_config *config = simulation->config;
    struct kvc_memcachedgpu_server *server = &simulation->servers[number];
    uint64_t seed = simulation->replica.context->seed;
    *server = (struct kvc_memcachedgpu_server){
        .simulation = simulation,
        .number = number,
        .shard = simulation->store->shards != NULL ? &simulation->store->shards[number] : NULL,
        .device = simulation->devices[number],
        .buffers_free = config->buffers,
        .release_room = releases_of(config),
    };
    server->blocks = kvc_gpu_blocks_create(config->gpu, (uint32_t)server->device.gpu);
    server->staged = kvc_batch_create(STAGED_ROWS, kvc_workload_key_stride(&simulation->scenario->workload));
    if (server->staged == NULL) {
        kvc_out_of_memory("%d requests", STAGED_ROWS);
    }
    server->release = kvc_array_of(server->release_room, sizeof(*server->release));
    server->port_free_ns = kvc_array_of(config->nic->ports, sizeof(*server->port_free_ns));
    server->tx_free_ns = kvc_array_of(config->nic->ports, sizeof(*server->tx_free_ns));
    kvc_rng_init(&server->damage, seed, "memcachedgpu.damage", number);
    kvc_rng_init(&server->outcome_draw, seed, "memcachedgpu.outcome", number);
    open_gates(server);
    server->streams = open_threads(server, config->streams);
    server->posts = open_threads(server, config->post_threads);
    server->writers = open_threads(server, writers_of(config));
    open_timeline(server);
}

static void spawn_server(struct kvc_memcachedgpu_server *server)
{
    const struct kvc_memcachedgpu_config *config = server->simulation->config;
    uint32_t set_threads = (uint32_t)config->options->set_threads;
    open_shares(server);
    kvc_engine_spawn("receiver", kvc_memcachedgpu_receiver_main, server);
    kvc_engine_spawn("pre", kvc_memcachedgpu_launcher_main, server);
    for (uint32_t i = 0; i < config->streams; i++) {
        kvc_engine_spawn("stream", kvc_memcachedgpu_stream_main, &server->streams[i]);
    }
    for (uint32_t i = 0; i < config->post_threads; i++) {
        server->posts[i].poller = kvc_poller_create((uint32_t)server->device.cpu);
        kvc_engine_spawn("post", kvc_memcachedgpu_post_main, &server->posts[i]);
    }
    for (uint32_t i = 0; i < writers_of(config) && config->writes; i++) {
        kvc_engine_spawn("writer",
                         i < set_threads ? kvc_memcachedgpu_writer_main : kvc_memcachedgpu_connection_main,
                         &server->writers[i]);
    }
    if (config->options->background_blocks > 0) {
        kvc_engine_spawn("background", kvc_memcachedgpu_background_main, server);
    }
}

static void close_jobs(struct kvc_memcachedgpu_server *server)
{
    while (server->all_jobs != NULL) {
        struct kvc_memcachedgpu_job *job = server->all_jobs;
        server->all_jobs = job->next_of_all;
        kvc_batch_free(job->batch);
        free(job->arrived_ns);
        free(job->done_ns);
        free(job->sent_ns);
        free(job->outcome);
        free(job->head_bytes);
        free(job);
    }
}

static void close_server(struct kvc_memcachedgpu_server *server)
{
    const struct kvc_memcachedgpu_config *config = server->simulation->config;
    struct kvc_gate *const gates[] = {server->full.gate,    server->launched.gate, server->released,
                                      server->wanted,       server->streams_free,  server->copy_in,
                                      server->copy_out,     server->driver,        server->written,
                                      server->set_threads,  server->table_writer,  server->answered,
                                      server->lock.released};
    for (size_t i = 0; i < sizeof(gates) / sizeof(*gates); i++) {
        kvc_gate_free(gates[i]);
    }
    close_threads(server->streams, config->streams);
    close_threads(server->posts, config->post_threads);
    close_threads(server->writers, writers_of(config));
    close_jobs(server);
    kvc_gpu_blocks_free(server->blocks);
    kvc_slice_mover_close(&server->wire_in.mover);
    kvc_slice_mover_close(&server->wire_out.mover);
    kvc_slice_mover_close(&server->receiving.mover);
    kvc_slice_mover_close(&server->copying.mover);
    kvc_batch_free(server->staged);
    free(server->release);
    free(server->port_free_ns);
    free(server->tx_free_ns);
    free(server->write);
}

/* Returns the batches that a server has under way. Threads and streams that clients keep busy have one each.
 * An open load keeps as many as it sends in the latency of the closed form. Beyond the throughput, and while
 * another task holds the GPU, requests wait, as far as there are receive buffers for them. */
static double jobs_of(const struct kvc_scenario *scenario)
{
    static const double requests_per_ns = 1e-3; /* At 1 Mops. */
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    double threads = 1 + config->streams + config->post_threads, rows = config->batch;
    double rate_mops = kvc_workload_rate_max_mops(&scenario->workload) / config->shards;
    double held_ns = config->options->background_blocks > 0 ? config->options->background_ns : 0;
    double waiting = held_ns > 0 ? rate_mops * requests_per_ns * held_ns : 0;
    if (isfinite(rate_mops)) {
        struct kvc_result *result = kvc_array_of(1, sizeof(*result));
        kvc_memcachedgpu_predict(scenario, result, NULL);
        double served_mops = result->throughput_mops / config->shards;
        double latency_ns = result->latency_mean_us * 1e3;
        free(result);
        if (served_mops < rate_mops) {
            waiting = fmax(waiting, kvc_replica_requests(scenario, kvc_memcachedgpu_window_ns(scenario),
                                                         rate_mops - served_mops));
        }
        threads = fmin(threads, 1 + ceil(served_mops * requests_per_ns * latency_ns / rows));
    }
    return threads + ceil(fmin(waiting, (double)config->buffers) / rows);
}

double kvc_memcachedgpu_run_memory_bytes(const struct kvc_scenario *scenario)
{
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    const struct kvc_memcachedgpu_simulation *simulation = NULL;
    const struct kvc_memcachedgpu_job *job = NULL;
    double rows = config->batch;
    uint32_t key_bytes = kvc_workload_key_bytes_max(&scenario->workload);
    double row_bytes = kvc_memcachedgpu_request_bytes(key_bytes) + KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES +
                       sizeof(*simulation->read_result) + sizeof(*simulation->read_key_bytes) +
                       sizeof(*simulation->packet) + sizeof(*simulation->results) +
                       sizeof(*simulation->location);
    double job_row_bytes = sizeof(*job->arrived_ns) + sizeof(*job->done_ns) + sizeof(*job->sent_ns) +
                           sizeof(*job->outcome) + sizeof(*job->head_bytes);
    double job_bytes = sizeof(*job) + rows * job_row_bytes +
                       kvc_batch_memory_bytes(rows, rows, kvc_workload_key_stride(&scenario->workload));
    bool real = scenario->run.functional != KVC_FUNCTIONAL_OFF;
    return (real ? rows * row_bytes : 0) + config->shards * jobs_of(scenario) * job_bytes;
}

static void open_simulation(struct kvc_memcachedgpu_simulation *simulation)
{
    const struct kvc_memcachedgpu_config *config = simulation->config;
    uint32_t rows = config->batch;
    uint32_t key_bytes = kvc_workload_key_bytes_max(&simulation->scenario->workload);
    uint32_t packet_bytes = kvc_memcachedgpu_request_bytes(key_bytes);
    simulation->packet_stride = (packet_bytes + ALIGN - 1) / ALIGN * ALIGN;
    simulation->packets = kvc_array_of((size_t)rows + 1, simulation->packet_stride);
    simulation->responses = kvc_array_of(rows, KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES);
    simulation->values = kvc_array_of(VALUES_BYTES, 1);
    simulation->read_result = kvc_array_of(rows, sizeof(*simulation->read_result));
    simulation->read_key_bytes = kvc_array_of(rows, sizeof(*simulation->read_key_bytes));
    simulation->packet = kvc_array_of(rows, sizeof(*simulation->packet));
    simulation->results = kvc_array_of(rows, sizeof(*simulation->results));
    simulation->location = kvc_array_of(rows, sizeof(*simulation->location));
    for (uint32_t bytes = 0; bytes < KVC_MEMCACHEDGPU_WIRE_BYTES; bytes++) {
        simulation->wire_ns[bytes] = kvc_memcachedgpu_wire_ns(config, bytes);
    }
    simulation->servers = kvc_array_of(config->shards, sizeof(*simulation->servers));
    simulation->watch.started_ns = simulation->watch.ended_ns = NAN;
    for (uint32_t i = 0; i < config->shards; i++) {
        open_server(simulation, i);
    }
}

static void close_simulation(struct kvc_memcachedgpu_simulation *simulation)
{
    for (uint32_t i = 0; simulation->servers != NULL && i < simulation->config->shards; i++) {
        close_server(&simulation->servers[i]);
    }
    free(simulation->servers);
    free(simulation->packets);
    free(simulation->responses);
    free(simulation->values);
    free(simulation->read_result);
    free(simulation->read_key_bytes);
    free(simulation->packet);
    free(simulation->results);
    free(simulation->location);
    kvc_replica_close(&simulation->replica);
    kvc_platform_free(simulation->platform);
    free(simulation->devices);
    free(simulation);
}

static bool drained(const void *data)
{
    const struct kvc_memcachedgpu_simulation *simulation = data;
    for (uint32_t i = 0; i < simulation->config->shards; i++) {
        const struct kvc_memcachedgpu_server *server = &simulation->servers[i];
        const struct kvc_memcachedgpu_job *job = server->all_jobs;
        for (; job != NULL; job = job->next_of_all) {
            if (job->batch->count > 0) {
                return false;
            }
        }
        if (server->write_head != server->write_tail) {
            return false;
        }
    }
    return true;
}

static enum kvc_status open_replica(struct kvc_memcachedgpu_simulation *simulation,
                                    const struct kvc_run_context *context, struct kvc_diag *diag)
{
    struct kvc_replica_options options = {.platform = simulation->platform,
                                          .source = kvc_scenario_source(context->scenario, 1, context->seed),
                                          .window_ns = kvc_memcachedgpu_window_ns(context->scenario)};
    /* A packet has one request and leaves at once. Only the send times count, so requests may come from the
     * source in groups; one client keeps them in the order of time. */
    struct kvc_workload workload = context->scenario->workload;
    workload.flows = workload.connections = 1;
    workload.fill_timeout_ns = 0;
    options.source.workload = &workload;
    options.source.frame_requests = STAGED_ROWS;
    enum kvc_status status = kvc_replica_open(&simulation->replica, context, &options, diag);
    simulation->replica.monitor.drained = drained;
    simulation->replica.monitor.count = kvc_memcachedgpu_count;
    simulation->replica.monitor.data = simulation;
    if (simulation->config->options->background_blocks > 0) {
        simulation->replica.recorder.changing = true;
    }
    return status;
}

enum kvc_status kvc_memcachedgpu_run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    const struct kvc_scenario *scenario = context->scenario;
    struct kvc_memcachedgpu_simulation *simulation = calloc(1, sizeof(*simulation));
    if (simulation == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a simulation");
    }
    simulation->scenario = scenario;
    simulation->config = kvc_memcachedgpu_config_of(scenario);
    simulation->store = context->state;
    simulation->hit_frac = kvc_memcachedgpu_hit_frac(scenario);
    simulation->path_ns =
        simulation->config->feed == KVC_MEMCACHEDGPU_NETWORK
            ? kvc_network_path_ns(&scenario->node, (double)simulation->config->nic->mtu_bytes)
            : 0;
    simulation->platform = kvc_platform_create();
    simulation->devices = kvc_array_of(simulation->config->shards, sizeof(*simulation->devices));
    kvc_memcachedgpu_machine(scenario, simulation->platform, simulation->devices);
    enum kvc_status status = open_replica(simulation, context, diag);
    if (status == KVC_OK) {
        open_simulation(simulation);
        for (uint32_t i = 0; i < simulation->config->shards; i++) {
            spawn_server(&simulation->servers[i]);
        }
        status = kvc_replica_run(&simulation->replica, true, diag);
    }
    if (status == KVC_OK) {
        kvc_memcachedgpu_report(simulation, context->result);
        context->result->requests_simulated = simulation->replica.recorder.offered_in_all;
        context->result->preload_wall_s = simulation->store->preload_wall_s;
        kvc_replica_report(&simulation->replica);
    }
    close_simulation(simulation);
    return status;
}
