/* MemcachedGPU's entry in the registry, and the frame of its simulation, which opens the servers and reports
 * their results. MemcachedGPU and GNoM are the design of Hetherington, O'Connor and Aamodt, "MemcachedGPU:
 * Scaling-up Scale-out Key-value Stores", SoCC 2015. */
#include "models/memcachedgpu/memcachedgpu.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/memcachedgpu/config.h"
#include "models/memcachedgpu/predict.h"
#include "models/memcachedgpu/real/calibrate.h"
#include "models/memcachedgpu/real/measure.h"
#include "models/memcachedgpu/resources.h"
#include "models/memcachedgpu/simulation.h"
#include "models/memcachedgpu/store.h"
#include "models/shards/store.h"
#include "models/simulate.h"
#include "sim/base/array.h"
#include "sim/devices/network.h"
#include "sim/run/replica_memory.h"

/* ---- machine ---- */

/* Adds the servers of a resolved scenario to an empty platform. devices[i] receives the devices of server i;
 * `devices` may be NULL. */
static void add_machines(const struct kvc_scenario *scenario, struct kvc_platform *platform,
                         struct kvc_socket *devices)
{
    for (uint32_t i = 0; i < kvc_memcachedgpu_config_of(scenario)->shards; i++) {
        char name[KVC_PLATFORM_NAME_MAX];
        snprintf(name, sizeof(name), "node%u", i);
        uint32_t zone = kvc_platform_add_zone(platform, name);
        struct kvc_socket socket =
            kvc_socket_add(platform, zone, name, &scenario->node, (struct kvc_socket_use){0});
        if (devices != NULL) {
            devices[i] = socket;
        }
    }
}

/* ---- simulation ---- */

enum { STAGED_ROWS = 64, ALIGN = 16, VALUES_BYTES = 1 << 21 };

static struct kvc_memcachedgpu_thread *open_threads(struct kvc_memcachedgpu_server *server, uint32_t count)
{
    struct kvc_memcachedgpu_thread *threads = kvc_array_of(count + 1, sizeof(*threads));
    for (uint32_t i = 0; i < count; i++) {
        threads[i].server = server;
        threads[i].number = i;
    }
    return threads;
}

static void open_posts(struct kvc_memcachedgpu_server *server, uint32_t count)
{
    server->posts = kvc_array_of(count, sizeof(*server->posts));
    for (uint32_t i = 0; i < count; i++) {
        server->posts[i] =
            (struct kvc_memcachedgpu_post){.server = server, .number = i, .turn = kvc_gate_create(1)};
    }
    server->polling = count;
}

static void close_posts(struct kvc_memcachedgpu_server *server, uint32_t count)
{
    for (uint32_t i = 0; i < count && server->posts != NULL; i++) {
        kvc_gate_free(server->posts[i].turn);
        kvc_poller_free(server->posts[i].poller);
    }
    free(server->posts);
}

static uint32_t writers_of(const struct kvc_memcachedgpu_config *config)
{
    return (uint32_t)(config->options->set_threads + config->options->set_connections);
}

/* Returns the size of the ring of releases, a power of two: each batch has at most one pending release. */
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
    server->full.gate = kvc_gate_create(0);
    server->released = kvc_gate_create(0);
    server->wanted = kvc_gate_create(0);
    server->pre = kvc_gate_create(1);
    server->copy_in = kvc_gate_create(1);
    server->copy_out = kvc_gate_create(1);
    server->written = kvc_gate_create(0);
    server->set_threads = kvc_gate_create((uint32_t)config->options->set_threads);
    server->table_writer = kvc_gate_create(1);
    server->answered = kvc_gate_create(0);
    server->lock = (struct kvc_memcachedgpu_lock){.since_ns = NAN, .released = kvc_gate_create(0)};
    if (config->writes || config->options->background_copy_bytes > 0) {
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
    kvc_slice_mover_open_work(&server->answering.mover, (uint32_t)device->dram);
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
    server->release = kvc_array_of(server->release_room, sizeof(*server->release));
    server->port_free_ns = kvc_array_of(config->nic->ports, sizeof(*server->port_free_ns));
    server->tx_free_ns = kvc_array_of(config->nic->ports, sizeof(*server->tx_free_ns));
    kvc_rng_init(&server->damage, seed, "memcachedgpu.damage", number);
    kvc_rng_init(&server->outcome_draw, seed, "memcachedgpu.outcome", number);
    open_gates(server);
    server->streams = open_threads(server, config->streams);
    open_posts(server, config->post_threads);
    server->writers = open_threads(server, writers_of(config));
    open_timeline(server);
}

static void spawn_server(struct kvc_memcachedgpu_server *server)
{
    const struct kvc_memcachedgpu_config *config = server->simulation->config;
    uint32_t set_threads = (uint32_t)config->options->set_threads;
    open_shares(server);
    kvc_engine_spawn("receiver", kvc_memcachedgpu_receiver_main, server);
    for (uint32_t i = 0; i < config->streams; i++) {
        kvc_engine_spawn("stream", kvc_memcachedgpu_stream_main, &server->streams[i]);
    }
    for (uint32_t i = 0; i < config->post_threads; i++) {
        server->posts[i].poller = kvc_poller_create((uint32_t)server->device.cpu);
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
    struct kvc_gate *const gates[] = {server->full.gate,    server->released, server->wanted,
                                      server->pre,          server->copy_in,  server->copy_out,
                                      server->driver,       server->written,  server->set_threads,
                                      server->table_writer, server->answered, server->lock.released};
    for (size_t i = 0; i < sizeof(gates) / sizeof(*gates); i++) {
        kvc_gate_free(gates[i]);
    }
    free(server->streams);
    close_posts(server, config->post_threads);
    free(server->writers);
    close_jobs(server);
    kvc_gpu_blocks_free(server->blocks);
    kvc_slice_mover_close(&server->wire_in.mover);
    kvc_slice_mover_close(&server->wire_out.mover);
    kvc_slice_mover_close(&server->receiving.mover);
    kvc_slice_mover_close(&server->copying.mover);
    kvc_slice_mover_close(&server->answering.mover);
    kvc_batch_free(server->staged);
    free(server->release);
    free(server->port_free_ns);
    free(server->tx_free_ns);
    free(server->write);
}

/* Returns the number of batches in flight on a server. A saturating load keeps one in each thread and stream.
 * An open load keeps as many as arrive within the latency of the closed form. When the load exceeds the
 * throughput, or another task holds the GPU, requests wait in the receive buffers. */
static double jobs_of(const struct kvc_scenario *scenario)
{
    static const double requests_per_ns = 1e-3; /* 1 Mops. */
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    double threads = 1 + config->streams + config->post_threads, rows = config->batch;
    double rate_mops = kvc_workload_rate_max_mops(&scenario->workload) / config->shards;
    double held_ns = config->options->background_blocks > 0 ? config->options->background_ns : 0;
    double waiting = held_ns > 0 ? rate_mops * requests_per_ns * held_ns : 0;
    if (isfinite(rate_mops)) {
        struct kvc_result *result = kvc_array_of(1, sizeof(*result));
        kvc_memcachedgpu_predict(scenario, result, NULL);
        double served_mops = result->throughput_mops / config->shards;
        double latency_ns = result->predicted.mean_us * 1e3;
        free(result);
        if (served_mops < rate_mops) {
            waiting = fmax(waiting, kvc_replica_requests(scenario, kvc_memcachedgpu_window_ns(scenario),
                                                         rate_mops - served_mops));
        }
        threads = fmin(threads, 1 + ceil(served_mops * requests_per_ns * latency_ns / rows));
    }
    return threads + ceil(fmin(waiting, (double)config->buffers) / rows);
}

/* Returns the memory of the packets, responses and batches of a replica [bytes]. */
static double run_memory_bytes(const struct kvc_scenario *scenario)
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

static void open_simulation(void *state)
{
    struct kvc_memcachedgpu_simulation *simulation = state;
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
    kvc_memcachedgpu_write_heads(simulation);
    for (uint32_t bytes = 0; bytes < KVC_MEMCACHEDGPU_WIRE_BYTES; bytes++) {
        simulation->wire_ns[bytes] = kvc_memcachedgpu_wire_ns(config, bytes);
    }
    simulation->servers = kvc_array_of(config->shards, sizeof(*simulation->servers));
    simulation->watch.started_ns = simulation->watch.ended_ns = NAN;
    for (uint32_t i = 0; i < config->shards; i++) {
        open_server(simulation, i);
    }
    for (uint32_t i = 0; i < config->shards; i++) {
        spawn_server(&simulation->servers[i]);
    }
    if (config->options->background_blocks > 0) {
        simulation->replica.recorder.changing = true;
    }
}

static void close_simulation(void *state)
{
    struct kvc_memcachedgpu_simulation *simulation = state;
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
    free(simulation->devices);
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

static void open_machines(void *state, const struct kvc_run_context *context, struct kvc_platform *platform)
{
    struct kvc_memcachedgpu_simulation *simulation = state;
    const struct kvc_scenario *scenario = context->scenario;
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    bool network = config->feed == KVC_MEMCACHEDGPU_NETWORK;
    simulation->scenario = scenario;
    simulation->config = config;
    simulation->store = context->state;
    simulation->hit_frac = kvc_memcachedgpu_hit_frac(scenario);
    simulation->path_ns = network ? kvc_network_path_ns(&scenario->node, (double)config->nic->mtu_bytes) : 0;
    simulation->devices = kvc_array_of(config->shards, sizeof(*simulation->devices));
    add_machines(scenario, platform, simulation->devices);
}

/* A packet has one request and leaves at once. Only the send times count, so requests may come from the
 * source in groups; one client keeps them in the order of time. */
static void set_source(void *state, struct kvc_replica_options *options)
{
    struct kvc_memcachedgpu_simulation *simulation = state;
    struct kvc_workload *workload = &simulation->ungrouped;
    *workload = simulation->scenario->workload;
    workload->flows = workload->connections = 1;
    workload->fill_timeout_ns = 0;
    options->source.workload = workload;
    options->source.frame_requests = STAGED_ROWS; /* It sends the SETs that fill misses itself. */
    options->source.ids_suffice = true;
    options->window_ns = kvc_memcachedgpu_window_ns(simulation->scenario);
}

/* ---- report ---- */

static void sum_index(const struct kvc_memcachedgpu_simulation *simulation, struct kvc_index_stats *sum)
{
    *sum = (struct kvc_index_stats){0};
    for (uint32_t i = 0; i < simulation->config->shards && simulation->store->shards != NULL; i++) {
        kvc_index_stats_add(sum, &simulation->store->shards[i].index_stats);
    }
}

static void count(void *data, bool begins)
{
    struct kvc_memcachedgpu_simulation *simulation = data;
    struct kvc_index_stats *stats = begins ? &simulation->first_index : &simulation->last_index;
    double batched = (double)simulation->batched, batches = (double)simulation->batches;
    sum_index(simulation, stats);
    const struct kvc_ratio ratio[] = {
        {"kernel", NULL, "lines_per_search", (double)stats->search_lines, (double)stats->searches,
         KVC_RATIO_OF_COUNTS},
        {"kernel", NULL, "lines_per_insert", (double)stats->insert_lines, (double)stats->inserts,
         KVC_RATIO_OF_COUNTS},
        {"stages", "launch", "mean_us", simulation->launch_sum_ns * 1e-3, batched, KVC_RATIO_OF_ENGINE},
        {"stages", "kernel", "mean_us", simulation->gpu_sum_ns * 1e-3, batched, KVC_RATIO_OF_ENGINE},
        {"stages", "answer", "mean_us", simulation->answer_sum_ns * 1e-3, batched, KVC_RATIO_OF_ENGINE},
        {"stages", "write", "mean_us", simulation->set_latency_sum_ns * 1e-3,
         (double)(simulation->sets + simulation->deletes), KVC_RATIO_OF_ENGINE},
        {"model", NULL, "batching_mean_us", simulation->batching_sum_ns * 1e-3, batched, KVC_RATIO_OF_ENGINE},
        {"model", NULL, "jobs_per_search", batched, batches, KVC_RATIO_OF_COUNTS},
        {"model", NULL, "t_search_us", simulation->kernel_sum_ns * 1e-3, simulation->kernels,
         KVC_RATIO_OF_ENGINE},
        {"model", NULL, "search_ns_per_job", simulation->kernel_sum_ns, simulation->kernel_packets,
         KVC_RATIO_OF_ENGINE},
        {"model", NULL, "set_kops", (double)simulation->sets * 1e6, kvc_engine_now_ns(), KVC_RATIO_OF_ENGINE},
    };
    kvc_recorder_sample(&simulation->replica.recorder, ratio, sizeof(ratio) / sizeof(*ratio));
}

static void report_kernel(const struct kvc_memcachedgpu_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_index_stats *first = &simulation->first_index, *last = &simulation->last_index;
    struct kvc_metrics *kernel = &result->kernel;
    uint64_t used = 0, capacity = 0, rejected = 0, expired = 0, stale = 0, bad = 0;
    if (simulation->store->shards == NULL) {
        return;
    }
    for (uint32_t i = 0; i < simulation->config->shards; i++) {
        const struct kvc_memcachedgpu_shard *shard = &simulation->store->shards[i];
        used += kvc_memcachedgpu_tables_used(&shard->tables);
        capacity += kvc_memcachedgpu_tables_capacity(&shard->tables);
        rejected += shard->rejected;
        expired += shard->expired;
        stale += shard->stale;
    }
    for (uint32_t i = KVC_MEMCACHEDGPU_PACKET_OK + 1; i < KVC_MEMCACHEDGPU_PACKET_STATUS_COUNT; i++) {
        bad += simulation->bad[i];
    }
    kvc_metrics_set_ratio(kernel, "load_factor_frac", (double)used, (double)capacity);
    kvc_shards_report_lines(first, last, kernel);
    kvc_metrics_set(kernel, "replaced", (double)(last->replaced - first->replaced));
    kvc_metrics_set(kernel, "evictions", (double)(last->evicted - first->evicted));
    kvc_metrics_set(kernel, "rejected", (double)rejected);
    kvc_metrics_set(kernel, "expired", (double)expired);
    kvc_metrics_set(kernel, "stale", (double)stale);
    kvc_metrics_set(kernel, "bad_packets", (double)bad);
    for (uint32_t i = KVC_MEMCACHEDGPU_PACKET_OK + 1; i < KVC_MEMCACHEDGPU_PACKET_STATUS_COUNT; i++) {
        if (simulation->bad[i] > 0) {
            char name[KVC_NAME_MAX];
            snprintf(name, sizeof(name), "bad_%s", kvc_memcachedgpu_packet_status_name(i));
            for (char *c = name; *c != '\0'; c++) {
                *c = *c == ' ' ? '_' : (char)tolower(*c);
            }
            kvc_metrics_set(kernel, name, (double)simulation->bad[i]);
        }
    }
}

static void report_background(const struct kvc_memcachedgpu_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_memcachedgpu_watch *watch = &simulation->watch;
    struct kvc_metrics *model = &result->model;
    if (simulation->config->options->background_blocks == 0) {
        return;
    }
    if (isnan(watch->ended_ns)) {
        kvc_result_note(result, "the other task had not ended when the run did; a longer run.duration shows "
                                "what it does");
    }
    kvc_metrics_set(model, "background_ms", (watch->ended_ns - watch->started_ns) * 1e-6);
    kvc_metrics_set(model, "rtt_before_us", watch->before_sum_ns / watch->before_count * 1e-3);
    kvc_metrics_set(model, "rtt_max_us", watch->most_ns * 1e-3);
    kvc_metrics_set(model, "disturbed_ms", fmax(watch->disturbed_ns - watch->started_ns, 0) * 1e-6);
    kvc_metrics_set(model, "recovery_ms", fmax(watch->disturbed_ns - watch->ended_ns, 0) * 1e-6);
}

static void set_totals(const void *state, struct kvc_result *result)
{
    const struct kvc_memcachedgpu_simulation *simulation = state;
    result->completed = simulation->completed + simulation->sets + simulation->deletes;
    result->hits = simulation->hits;
    result->misses = simulation->misses;
    result->sets = simulation->sets;
    result->deletes = simulation->deletes;
    result->preload_wall_s = simulation->store->preload_wall_s;
}

/* Reports the mean time of requests in the stages that measure it. */
static void report_stays(const struct kvc_memcachedgpu_simulation *simulation, struct kvc_result *result)
{
    double batched = (double)simulation->batched;
    struct kvc_stage_result *write = kvc_stages_find(result, "write");
    kvc_stages_find(result, "launch")->mean_us = simulation->launch_sum_ns / batched * 1e-3;
    kvc_stages_find(result, "kernel")->mean_us = simulation->gpu_sum_ns / batched * 1e-3;
    kvc_stages_find(result, "answer")->mean_us = simulation->answer_sum_ns / batched * 1e-3;
    if (write != NULL) {
        write->served = simulation->sets + simulation->deletes;
        write->mean_us = simulation->set_latency_sum_ns / (double)write->served * 1e-3;
    }
}

static void report(void *state, struct kvc_result *result)
{
    const struct kvc_memcachedgpu_simulation *simulation = state;
    const struct kvc_recorder *recorder = &simulation->replica.recorder;
    double measured_ns = recorder->until_ns - recorder->from_ns, batched = (double)simulation->batched;
    report_stays(simulation, result);
    kvc_metrics_set(&result->model, "batching_mean_us", simulation->batching_sum_ns / batched * 1e-3);
    kvc_metrics_set(&result->model, "jobs_per_search", batched / (double)simulation->batches);
    kvc_metrics_set(&result->model, "t_search_us", simulation->kernel_sum_ns / simulation->kernels * 1e-3);
    kvc_metrics_set(&result->model, "search_ns_per_job",
                    simulation->kernel_sum_ns / simulation->kernel_packets);
    if (simulation->config->writes) {
        kvc_metrics_set(&result->model, "lock_waits", (double)simulation->lock_waits);
        kvc_metrics_set(&result->model, "set_kops", (double)simulation->sets / measured_ns * 1e6);
    }
    report_background(simulation, result);
    report_kernel(simulation, result);
    kvc_memcachedgpu_add_price(simulation->scenario, result);
}

static const char *const parts[] = {"receive, batch", "launch", "kernel", "answer", NULL};

static const struct kvc_simulator simulator = {
    .state_bytes = sizeof(struct kvc_memcachedgpu_simulation),
    .machine = open_machines,
    .source = set_source,
    .open = open_simulation,
    .drained = drained,
    .count = count,
    .parts = parts,
    .totals = set_totals,
    .stages = kvc_memcachedgpu_stages,
    .report = report,
    .close = close_simulation,
};

static enum kvc_status run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    return kvc_simulate_replica(&simulator, context, diag);
}

/* ---- registry ---- */

static double memory_bytes(const struct kvc_scenario *scenario)
{
    return kvc_memcachedgpu_store_memory_bytes(scenario) + run_memory_bytes(scenario) +
           kvc_replica_memory_bytes(scenario, kvc_memcachedgpu_window_ns(scenario),
                                    kvc_memcachedgpu_config_of(scenario)->shards);
}

static enum kvc_status prepare(const struct kvc_scenario *scenario, uint64_t seed, void **state,
                               const struct kvc_progress *progress, struct kvc_diag *diag)
{
    struct kvc_memcachedgpu_store *store = NULL;
    enum kvc_status status = kvc_memcachedgpu_store_create(scenario, seed, progress, &store, diag);
    *state = store;
    return status;
}

static uint32_t sizes(const struct kvc_scenario *scenario, double *size)
{
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    uint32_t count = 0;
    size[count++] = config->shards;
    size[count++] = config->table_bytes;
    size[count++] = config->slab_bytes;
    return count;
}

static void platform(const struct kvc_scenario *scenario, struct kvc_platform *platform)
{
    add_machines(scenario, platform, NULL);
}

static const struct kvc_model_device devices[] = {
    {&kvc_cpu_kind, "core-i7-4770k"},
    {&kvc_dram_kind, "ddr3-1600-i7-4770k"},
    {&kvc_gpu_kind, "tesla-k20c"},
    {&kvc_nic_kind, "x520-t2"},
    {&kvc_pcie_kind, "pcie2-x16-k20c"},
    {&kvc_network_kind, "direct-cable-10g"},
    {&kvc_memcachedgpu_cost_profile_kind, "memcachedgpu-costs-h200"},
    {NULL, NULL},
};

const struct kvc_model kvc_memcachedgpu_model = {
    .key_bytes_most = KVC_MEMCACHEDGPU_PACKET_KEY_MAX,
    .pair_bytes_most = KVC_MEMCACHEDGPU_PACKET_PAIR_MAX,
    .name = "memcachedgpu",
    .help = "UDP packets in GPU memory: one kernel parses, looks up and builds responses; the CPU moves "
            "pointers",
    .paper = "Hetherington et al., SoCC 2015",
    .options = &kvc_memcachedgpu_option_table,
    .devices = devices,
    .config_bytes = sizeof(struct kvc_memcachedgpu_config),
    .resolve = kvc_memcachedgpu_resolve,
    .check = kvc_memcachedgpu_check,
    .rooms = kvc_memcachedgpu_rooms,
    .memory_bytes = memory_bytes,
    .platform = platform,
    .stages = kvc_memcachedgpu_stages,
    .resources = kvc_memcachedgpu_resources,
    .predict = kvc_memcachedgpu_predict,
    .prepare = prepare,
    .sizes = sizes,
    .run = run,
    .measurable = &kvc_memcachedgpu_measurable,
    .calibrate = kvc_memcachedgpu_calibrate,
};
