#include "models/megakv/run.h"

#include <math.h>
#include <string.h>

#include "models/megakv/predict.h"
#include "models/megakv/range.h"
#include "models/megakv/simulation.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/metrics/bottleneck.h"

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
                        uint32_t streams)
{
    buffer->batch = kvc_batch_create(rows, key_stride);
    if (buffer->batch == NULL) {
        kvc_out_of_memory("a buffer of %u rows", rows);
    }
    buffer->received_ns = kvc_array_of(rows, sizeof(*buffer->received_ns));
    buffer->location = kvc_array_of(rows, sizeof(*buffer->location));
    buffer->sampled = kvc_array_of(rows, sizeof(*buffer->sampled));
    buffer->launched_gets = kvc_array_of(streams, sizeof(*buffer->launched_gets));
}

static void close_buffer(struct kvc_megakv_buffer *buffer)
{
    kvc_batch_free(buffer->batch);
    free(buffer->received_ns);
    free(buffer->location);
    free(buffer->sampled);
    free(buffer->launched_gets);
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

static void open_pipeline(struct kvc_megakv_pipeline *pipeline, struct kvc_megakv_socket *socket,
                          uint32_t number, uint32_t key_stride)
{
    struct kvc_megakv_simulation *simulation = socket->simulation;
    uint32_t buffers = simulation->config->buffers;
    pipeline->socket = socket;
    pipeline->number = number;
    for (uint32_t i = 0; i < buffers; i++) {
        open_buffer(&pipeline->buffers[i], simulation->buffer_rows, key_stride, simulation->streams);
        pipeline->free_stack[i] = &pipeline->buffers[buffers - 1 - i];
    }
    pipeline->filling = pipeline->free_stack[buffers - 1];
    pipeline->receive_core = simulation->shared ? &socket->first_core : &pipeline->own_receive_core;
    if (simulation->shared) {
        pipeline->send_core = &socket->send_cores[number % (simulation->config->cpu->cores - 1)];
    }
    pipeline->free_count = buffers - 1;
    pipeline->free_gate = kvc_gate_create(buffers - 1);
    pipeline->ready_gate = kvc_gate_create(0);
    pipeline->pace_ns = simulation->first_pace_ns;
    pipeline->slowness = slowness_of(simulation, number);
    pipeline->lookup_mix = simulation->costs.lookup_mix;
    pipeline->started_ns = kvc_array_of(simulation->config->nic->ring_frames, sizeof(*pipeline->started_ns));
}

static void close_pipeline(struct kvc_megakv_pipeline *pipeline)
{
    for (uint32_t i = 0; i < KVC_MEGAKV_BUFFERS_MAX && pipeline->buffers[i].batch != NULL; i++) {
        close_buffer(&pipeline->buffers[i]);
    }
    kvc_gate_free(pipeline->free_gate);
    kvc_gate_free(pipeline->ready_gate);
    free(pipeline->started_ns);
}

static void open_socket(struct kvc_megakv_simulation *simulation, uint32_t number, uint32_t key_stride)
{
    uint64_t seed = simulation->replica.seed;
    struct kvc_megakv_socket *socket = &simulation->sockets[number];
    socket->simulation = simulation;
    socket->number = number;
    socket->shard = simulation->store->shards != NULL ? &simulation->store->shards[number] : NULL;
    uint32_t sockets = (uint32_t)simulation->scenario->node.sockets;
    snprintf(socket->host, sizeof(socket->host), "node%u.socket%u", number / sockets, number % sockets);
    kvc_rng_init(&socket->rss, seed, "megakv.rss", number);
    kvc_rng_init(&socket->thinning, seed, "megakv.thinning", number);
    kvc_rng_init(&socket->outcome, seed, "megakv.outcome", number);
    socket->launches_end = &socket->launches;
    socket->launch_gate = kvc_gate_create(0);
    socket->done_gate = kvc_gate_create(0);
    if (simulation->shared) {
        socket->send_cores = kvc_array_of(simulation->config->cpu->cores - 1, sizeof(*socket->send_cores));
    }
    socket->pipelines = kvc_array_of(simulation->streams, sizeof(*socket->pipelines));
    kvc_timeline_row(simulation->replica.context->timeline, number, 0, socket->host, "gpu");
    for (uint32_t i = 0; i < simulation->streams; i++) {
        char row[32];
        snprintf(row, sizeof(row), "sender %u", i);
        kvc_timeline_row(simulation->replica.context->timeline, number, 1 + i, socket->host, row);
        open_pipeline(&socket->pipelines[i], socket, i, key_stride);
    }
}

static void close_socket(struct kvc_megakv_socket *socket)
{
    for (uint32_t i = 0; i < socket->simulation->streams; i++) {
        close_pipeline(&socket->pipelines[i]);
    }
    while (socket->launches != NULL) {
        struct kvc_megakv_launch *launch = socket->launches;
        socket->launches = launch->next;
        kvc_megakv_writes_free(&launch->writes);
        free(launch->buffers);
        free(launch);
    }
    kvc_megakv_writes_free(&socket->writes);
    kvc_gate_free(socket->launch_gate);
    kvc_gate_free(socket->done_gate);
    free(socket->send_cores);
    free(socket->pipelines);
}

/* Returns how many rows per pipeline and cycle eq. (4) admits, or 0 if the cycle is infeasible at any speed.
 */
static double rows_of_equation_4(const struct kvc_megakv_simulation *simulation)
{
    const struct kvc_megakv_config *config = simulation->config;
    struct kvc_megakv_fit fit = kvc_megakv_fit_of(&simulation->costs, config->clock);
    struct kvc_megakv_load load = kvc_megakv_load_of(simulation->scenario);
    return kvc_megakv_speed_max(&fit, &load, config->cycle_ns) * config->cycle_ns / config->streams;
}

static void settle(struct kvc_megakv_simulation *simulation, const struct kvc_run_context *context)
{
    const struct kvc_scenario *scenario = context->scenario;
    simulation->scenario = scenario;
    simulation->store = context->state;
    simulation->config = kvc_megakv_config_of(scenario);
    simulation->streams = simulation->config->streams;
    simulation->socket_count = simulation->config->shards;
    simulation->costs = kvc_megakv_costs_of(scenario);
    simulation->shared = simulation->config->threads == KVC_MEGAKV_SHARED_THREADS;
    simulation->on_thread = simulation->config->index_on == KVC_MEGAKV_INDEX_ON_THREAD;
    simulation->admit_rows = rows_of_equation_4(simulation);
    simulation->paced = simulation->admit_rows >= 1;
    if (!simulation->paced || simulation->config->admission == KVC_MEGAKV_ADMIT_ALL ||
        simulation->admit_rows > KVC_MEGAKV_ROWS_MAX) {
        simulation->admit_rows = KVC_MEGAKV_ROWS_MAX;
    }
    /* Room for the rows of a cycle, as many rows that wait for the next one, and two frames at either end. */
    simulation->buffer_rows = 2 * (uint32_t)simulation->admit_rows + 4 * simulation->config->frame_requests;
    simulation->fixed_sizes =
        scenario->workload.sizes == KVC_SIZES_FIXED && scenario->workload.arrival != KVC_ARRIVAL_TRACE;
    simulation->first_pace_ns =
        simulation->streams / kvc_megakv_limits_of(scenario, &simulation->costs).senders;
}

static void open_simulation(struct kvc_megakv_simulation *simulation)
{
    uint32_t key_stride = kvc_workload_key_stride(&simulation->scenario->workload);
    size_t rows = simulation->buffer_rows;
    size_t jobs = rows > KVC_MEGAKV_ROWS_MAX ? rows : KVC_MEGAKV_ROWS_MAX;
    simulation->rows = kvc_array_of(rows, sizeof(*simulation->rows));
    simulation->hashes = kvc_array_of(rows, sizeof(*simulation->hashes));
    simulation->locations = kvc_array_of(jobs, sizeof(*simulation->locations));
    simulation->evicted = kvc_array_of(rows, sizeof(*simulation->evicted));
    simulation->read_result = kvc_array_of(rows, sizeof(*simulation->read_result));
    simulation->done_ns = kvc_array_of(rows, sizeof(*simulation->done_ns));
    simulation->column_a = kvc_array_of(rows, sizeof(*simulation->column_a));
    simulation->column_b = kvc_array_of(rows, sizeof(*simulation->column_b));
    simulation->response = kvc_array_of(KVC_MEGAKV_RESPONSE_BYTES, 1);
    simulation->overflow = kvc_batch_create(2 * simulation->config->frame_requests, key_stride);
    if (simulation->overflow == NULL) {
        kvc_out_of_memory("a frame");
    }
    simulation->sockets = kvc_array_of(simulation->socket_count, sizeof(*simulation->sockets));
    for (uint32_t i = 0; i < simulation->socket_count; i++) {
        open_socket(simulation, i, key_stride);
    }
}

static void close_simulation(struct kvc_megakv_simulation *simulation)
{
    for (uint32_t i = 0; i < simulation->socket_count && simulation->sockets != NULL; i++) {
        close_socket(&simulation->sockets[i]);
    }
    free(simulation->sockets);
    kvc_batch_free(simulation->overflow);
    free(simulation->rows);
    free(simulation->hashes);
    free(simulation->locations);
    free(simulation->evicted);
    free(simulation->read_result);
    free(simulation->done_ns);
    free(simulation->column_a);
    free(simulation->column_b);
    free(simulation->response);
    kvc_replica_close(&simulation->replica);
    kvc_platform_free(simulation->platform);
    free(simulation->gpu_host);
    free(simulation);
}

static bool drained(const void *data)
{
    const struct kvc_megakv_simulation *simulation = data;
    for (uint32_t s = 0; s < simulation->socket_count; s++) {
        const struct kvc_megakv_socket *socket = &simulation->sockets[s];
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

static void spawn_all(struct kvc_megakv_simulation *simulation)
{
    for (uint32_t s = 0; s < simulation->socket_count; s++) {
        struct kvc_megakv_socket *socket = &simulation->sockets[s];
        kvc_engine_spawn("scheduler", kvc_megakv_scheduler_main, socket);
        kvc_engine_spawn("gpu", kvc_megakv_gpu_main, socket);
        for (uint32_t p = 0; p < simulation->streams; p++) {
            kvc_engine_spawn("sender", kvc_megakv_sender_main, &socket->pipelines[p]);
        }
    }
}

/* Adds the devices of all sockets to the platform. */
static void describe_machines(struct kvc_megakv_simulation *simulation)
{
    uint32_t sockets = (uint32_t)simulation->scenario->node.sockets, zone = 0;
    simulation->platform = kvc_platform_create();
    simulation->gpu_host = kvc_array_of(simulation->socket_count, sizeof(*simulation->gpu_host));
    for (uint32_t i = 0; i < simulation->socket_count; i++) {
        char name[KVC_NAME_MAX];
        struct kvc_platform_host gpu = {.device = "gpu", .cores = 1, .pstates = 1, .pstate = {{.speed = 1}}};
        if (i % sockets == 0) {
            snprintf(name, sizeof(name), "node%u", i / sockets);
            zone = kvc_platform_add_zone(simulation->platform, name);
        }
        snprintf(gpu.name, sizeof(gpu.name), "node%u.socket%u.gpu", i / sockets, i % sockets);
        simulation->gpu_host[i] = kvc_platform_add_host(simulation->platform, zone, &gpu);
    }
}

static enum kvc_status open_replica(struct kvc_megakv_simulation *simulation,
                                    const struct kvc_run_context *context, struct kvc_diag *diag)
{
    const struct kvc_scenario *scenario = context->scenario;
    struct kvc_replica_options options = {.platform = simulation->platform,
                                          .source = kvc_megakv_source_of(scenario),
                                          .window_ns =
                                              simulation->config->cycle_ns * simulation->config->delay};
    options.source.frame_requests = simulation->config->frame_requests;
    enum kvc_status status = kvc_replica_open(&simulation->replica, context, &options, diag);
    simulation->replica.monitor.drained = drained;
    simulation->replica.monitor.data = simulation;
    return status;
}

static struct kvc_stage_result *add_stage(const struct kvc_megakv_simulation *simulation, const char *name,
                                          const char *device, double busy_ns, double servers, double mean_ns,
                                          struct kvc_result *result)
{
    struct kvc_stage_result *stage =
        kvc_recorder_report_stage(&simulation->replica.recorder, name, device, busy_ns, servers, result);
    stage->mean_us = mean_ns * 1e-3;
    return stage;
}

static void report_stages(const struct kvc_megakv_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_recorder *recorder = &simulation->replica.recorder;
    const double *busy_ns = recorder->busy_ns;
    double measured_ns = recorder->until_ns - recorder->from_ns, batched = (double)simulation->batched;
    double gpus = simulation->socket_count, threads = gpus * simulation->streams;
    bool network = simulation->config->feed == KVC_MEGAKV_NETWORK, shared = simulation->shared;
    double index_ns = busy_ns[KVC_MEGAKV_SEARCH] + busy_ns[KVC_MEGAKV_INSERT];
    double send_cores =
        simulation->shared ? fmin((double)simulation->config->cpu->cores - 1, threads) : threads;
    if (network) {
        add_stage(simulation, "rx", "nic", busy_ns[KVC_MEGAKV_RX], threads, NAN, result);
    }
    struct kvc_stage_result *receive =
        add_stage(simulation, "receive", "cpu", busy_ns[KVC_MEGAKV_RECEIVE], shared ? gpus : threads,
                  simulation->receive_sum_ns / (double)simulation->received, result);
    struct kvc_stage_result *index = add_stage(simulation, "index", simulation->on_thread ? "cpu" : "gpu",
                                               index_ns, gpus, simulation->gpu_sum_ns / batched, result);
    if (shared) {
        receive->utilization_frac = index->utilization_frac += receive->utilization_frac;
    }
    add_stage(simulation, "send", "cpu", busy_ns[KVC_MEGAKV_SEND], send_cores,
              simulation->send_sum_ns / batched, result);
    if (network) {
        add_stage(simulation, "tx", "nic", busy_ns[KVC_MEGAKV_TX], threads, NAN, result);
    }
    kvc_metrics_set(&result->model, "batching_mean_us", simulation->batch_sum_ns / batched / 1e3);
    kvc_metrics_set(&result->model, "gpu_search_utilization_frac",
                    busy_ns[KVC_MEGAKV_SEARCH] / gpus / measured_ns);
    kvc_metrics_set(&result->model, "gpu_insert_utilization_frac",
                    busy_ns[KVC_MEGAKV_INSERT] / gpus / measured_ns);
}

static void report_launches(const struct kvc_megakv_launches *launches, const char *time_name,
                            const char *jobs_name, struct kvc_result *result)
{
    if (launches->count == 0) {
        return;
    }
    kvc_metrics_set(&result->model, time_name, launches->ns / (double)launches->count / 1e3);
    kvc_metrics_set(&result->model, jobs_name, launches->jobs / (double)launches->count);
}

/* Reports whether the cycle was kept, and how long it really was. */
static void report_cycle(const struct kvc_megakv_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_scenario *scenario = simulation->scenario;
    struct kvc_megakv_fit fit = kvc_megakv_fit_of(&simulation->costs, simulation->config->clock);
    struct kvc_megakv_load load = kvc_megakv_load_of(scenario);
    double launches = (double)simulation->launches, sockets = simulation->socket_count;
    double span_ns = simulation->last_launch_ns - simulation->first_launch_ns;
    double effective_ns = launches > sockets ? span_ns / (launches / sockets - 1) : NAN;
    double late_frac = launches > 0 ? (double)simulation->late_launches / launches : 0;
    double speed = result->throughput_mops / 1e3 / sockets;
    double needed_ns = kvc_megakv_cycle_min_ns(&fit, &load, speed);
    kvc_metrics_set(&result->model, "cycle_us", simulation->config->cycle_ns / 1e3);
    kvc_metrics_set(&result->model, "cycle_effective_us", effective_ns / 1e3);
    kvc_metrics_set(&result->model, "cycle_needed_us", needed_ns / 1e3);
    kvc_metrics_set(&result->model, "launches_late_frac", late_frac);
    kvc_metrics_set(
        &result->model, "overrun_mean_us",
        simulation->late_launches > 0 ? simulation->late_ns / (double)simulation->late_launches / 1e3 : 0);
    kvc_metrics_set(&result->model, "overrun_max_us", simulation->late_ns_max / 1e3);
    if (late_frac > 0.01 && effective_ns > simulation->config->cycle_ns * 1.001) {
        kvc_result_note(
            result,
            "the cycle of %.4g us was not kept: %.3g %% of the launches were late, the mean cycle was %.4g "
            "us "
            "(at this speed T_S + T_max needs %.4g us); latencies are those of the stretched cycle",
            simulation->config->cycle_ns / 1e3, late_frac * 100, effective_ns / 1e3, needed_ns / 1e3);
    }
}

static void report_kernel(const struct kvc_megakv_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_megakv_store *store = simulation->store;
    struct kvc_index_stats index = {0};
    struct kvc_megakv_slab_stats slab = {0};
    double used = 0, slots = 0, items = 0, rejected = 0;
    for (uint32_t i = 0; i < store->shard_count && store->shards != NULL; i++) {
        const struct kvc_megakv_shard *shard = &store->shards[i];
        index.searches += shard->index_stats.searches;
        index.search_lines += shard->index_stats.search_lines;
        index.inserts += shard->index_stats.inserts;
        index.insert_lines += shard->index_stats.insert_lines;
        index.displacements += shard->index_stats.displacements;
        index.dropped += shard->index_stats.dropped;
        index.replaced += shard->index_stats.replaced;
        slab.evicted += shard->slab_stats.evicted;
        slab.reads += shard->slab_stats.reads;
        slab.read_lines += shard->slab_stats.read_lines;
        slab.marked += shard->slab_stats.marked;
        used += (double)kvc_index_used(shard->index);
        slots += (double)kvc_index_capacity(shard->index);
        items += (double)kvc_megakv_slab_used_items(shard->slab);
        rejected += (double)shard->rejected;
    }
    double searches = (double)index.searches, inserts = (double)index.inserts, reads = (double)slab.reads;
    kvc_metrics_set(&result->kernel, "sample_rate", (double)store->sampling.rate);
    kvc_metrics_set(&result->kernel, "load_factor_frac", slots > 0 ? used / slots : NAN);
    kvc_metrics_set(&result->kernel, "lines_per_search",
                    searches > 0 ? (double)index.search_lines / searches : NAN);
    kvc_metrics_set(&result->kernel, "lines_per_insert",
                    inserts > 0 ? (double)index.insert_lines / inserts : NAN);
    kvc_metrics_set(&result->kernel, "displacements_per_insert",
                    inserts > 0 ? (double)index.displacements / inserts : NAN);
    kvc_metrics_set(&result->kernel, "lines_per_read", reads > 0 ? (double)slab.read_lines / reads : NAN);
    kvc_metrics_set(&result->kernel, "marks_per_read", reads > 0 ? (double)slab.marked / reads : NAN);
    kvc_metrics_set(&result->kernel, "replaced", (double)index.replaced);
    kvc_metrics_set(&result->kernel, "dropped", (double)index.dropped);
    kvc_metrics_set(&result->kernel, "evictions", (double)slab.evicted);
    kvc_metrics_set(&result->kernel, "rejected", rejected);
    kvc_metrics_set(&result->kernel, "items", items);
}

static void report(struct kvc_megakv_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_scenario *scenario = simulation->scenario;
    const struct kvc_recorder *recorder = &simulation->replica.recorder;
    double measured_ns = recorder->until_ns - recorder->from_ns;
    result->offered = recorder->offered;
    result->dropped = recorder->dropped;
    result->completed = simulation->completed;
    result->hits = simulation->hits;
    result->misses = simulation->misses;
    result->gets = simulation->hits + simulation->misses;
    result->sets = simulation->sets;
    result->deletes = simulation->writes - simulation->sets;
    kvc_recorder_report(&simulation->replica.recorder, result);
    report_stages(simulation, result);
    report_launches(&simulation->searched, "t_search_us", "jobs_per_search", result);
    report_launches(&simulation->inserted, "t_insert_us", "jobs_per_insert", result);
    kvc_megakv_note_range(scenario, kvc_metrics_get(&result->model, "jobs_per_search"), result);
    report_cycle(simulation, result);
    report_kernel(simulation, result);
    kvc_bottleneck_find(result);
    if (simulation->written > 0) {
        kvc_metrics_set(&result->model, "write_latency_mean_us",
                        simulation->write_latency_sum_ns / (double)simulation->written / 1e3);
    }

    double dram_rate = simulation->config->means.dram_bytes * (double)simulation->completed /
                       simulation->socket_count / measured_ns * 1e9;
    kvc_metrics_set(&result->model, "dram_bandwidth_frac",
                    dram_rate / kvc_dram_bytes_per_s(simulation->config->dram));
    if (dram_rate > kvc_dram_bytes_per_s(simulation->config->dram)) {
        kvc_result_note(result,
                        "items alone need %.3g GB/s per socket, its memory has %.3g: the real rate is lower",
                        dram_rate / 1e9, kvc_dram_bytes_per_s(simulation->config->dram) / 1e9);
    }
    if (result->dropped > 0) {
        kvc_result_note(result,
                        "%.3g %% of the requests were dropped at full receive rings: the load is too high",
                        100.0 * (double)result->dropped / (double)result->offered);
    }
}

enum kvc_status kvc_megakv_run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    struct kvc_megakv_simulation *simulation = calloc(1, sizeof(*simulation));
    struct kvc_result *result = context->result;
    if (simulation == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a simulation");
    }
    settle(simulation, context);
    describe_machines(simulation);
    enum kvc_status status = open_replica(simulation, context, diag);
    if (status == KVC_OK) {
        open_simulation(simulation);
        spawn_all(simulation);
        status = kvc_replica_run(&simulation->replica, true, diag);
    }
    if (status == KVC_OK) {
        report(simulation, result);
        result->requests_simulated = simulation->replica.recorder.offered;
        result->preload_wall_s = simulation->store->preload_wall_s;
        kvc_replica_report(&simulation->replica);
    }
    close_simulation(simulation);
    return status;
}
