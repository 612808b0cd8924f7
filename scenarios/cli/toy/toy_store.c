/* A store: its options, its closed form and its simulation, and a descriptor for the registry. */
#include <math.h>
#include <stdlib.h>

#include "scenarios/cli/toy/toy.h"
#include "sim/engine.h"
#include "sim/metrics/bottleneck.h"
#include "sim/run/replica.h"

enum { DEVICE = 0 }; /* Number of the device in the platform. */

static const struct kvc_option rows[] = {
    {.name = "work",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_toy_options, work),
     .min = 1e-3,
     .max = 1e3,
     .by_default = "1",
     .help = "Units of work that a request costs the device; more work takes longer."},
};

static const struct kvc_option_table option_table = {.name = "system",
                                                     .rows = rows,
                                                     .count = sizeof(rows) / sizeof(*rows),
                                                     .size = sizeof(struct kvc_toy_options)};

static enum kvc_status resolve(const struct kvc_scenario *scenario, void *config, struct kvc_diag *diag)
{
    (void)diag;
    const struct kvc_toy_options *options = scenario->options;
    uint64_t per_frame = scenario->workload.frame_requests;
    *(struct kvc_toy_config *)config = (struct kvc_toy_config){
        .request_ns = options->work / kvc_toydev_of(&scenario->node)->speed_mops * 1e3,
        .frame_requests = per_frame > 0 ? (uint32_t)per_frame : 1,
    };
    return KVC_OK;
}

static enum kvc_status check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    int arrival = scenario->workload.arrival;
    if (scenario->cluster.nodes != 1) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "cluster.nodes: found %llu, allowed: 1",
                             (unsigned long long)scenario->cluster.nodes);
    }
    if (arrival != KVC_ARRIVAL_POISSON && arrival != KVC_ARRIVAL_SATURATE) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.arrival: allowed: \"saturate\" or { poisson_mops = 0.5 }");
    }
    return KVC_OK;
}

/* The queue of frames is M/D/1: the mean wait follows from Pollaczek and Khinchine's formula. A frame of n
 * requests is a job of n service times, and its requests wait for (n - 1) / 2 of each other on average. */
static enum kvc_status predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                               struct kvc_diag *diag)
{
    (void)diag;
    const struct kvc_toy_config *config = scenario->config;
    double frame_ns = config->frame_requests * config->request_ns;
    double capacity_mops = 1e3 / config->request_ns;
    double load = kvc_workload_rate_max_mops(&scenario->workload) / capacity_mops;
    double wait_ns = load / (2 * (1 - load)) * frame_ns;
    double serve_ns = (config->request_ns + frame_ns) / 2;
    result->throughput_mops = fmin(load, 1) * capacity_mops;
    if (scenario->workload.arrival == KVC_ARRIVAL_SATURATE) {
        result->latency_mean_us = serve_ns / 1e3; /* Saturating clients send when the device is free. */
    } else {
        result->latency_mean_us = load < 1 ? (wait_ns + serve_ns) / 1e3 : NAN;
    }
    result->latency_p95_us = NAN;
    kvc_metrics_set(&result->model, "capacity_mops", capacity_mops);
    kvc_result_add_stage(result, "serve", "toydev", fmin(load, 1));
    kvc_bottleneck_find(result);
    return KVC_OK;
}

struct simulation {
    const struct kvc_toy_config *config;
    struct kvc_platform *platform;
    struct kvc_replica replica;
    struct kvc_batch *batch;          /* The frame that is served. */
    double *done_ns;                  /* When each of its requests completes [ns]. */
    uint64_t completed[KVC_OP_COUNT]; /* Within the measured time. */
};

/* Occupies the device with the frame in the batch. The frame is one activity of the engine, because an
 * activity costs a microsecond or two of this machine's time; within it, the requests complete one by one,
 * the last one at the end. */
static void serve_frame(struct simulation *simulation, double start_ns)
{
    struct kvc_batch *batch = simulation->batch;
    struct kvc_recorder *recorder = &simulation->replica.recorder;
    double request_ns = simulation->config->request_ns, frame_ns = batch->count * request_ns;
    uint32_t first, last;
    for (uint32_t i = 0; i < batch->count; i++) {
        batch->sent_ns[i] = isnan(batch->sent_ns[i]) ? start_ns : batch->sent_ns[i]; /* saturating clients */
    }
    kvc_recorder_offered(recorder, batch->sent_ns, batch->count);
    kvc_engine_work(&(struct kvc_draw){DEVICE, frame_ns, frame_ns}, 1);
    double end_ns = kvc_engine_now_ns();
    for (uint32_t i = 0; i < batch->count; i++) {
        simulation->done_ns[i] = end_ns - (batch->count - 1 - i) * request_ns;
    }
    kvc_recorder_latencies(recorder, end_ns, batch->sent_ns, simulation->done_ns, batch->count);
    kvc_recorder_completions(recorder, end_ns, simulation->done_ns, batch->count, &first, &last);
    kvc_recorder_busy(recorder, 0, start_ns, end_ns);
    kvc_timeline_event(simulation->replica.context->timeline, 0, 0, "serve", start_ns, end_ns - start_ns,
                       batch->count);
    for (uint32_t i = first; i < last; i++) {
        simulation->completed[batch->op[i]]++;
    }
}

/* The actor of the device. */
static void device_main(void *data)
{
    struct simulation *simulation = data;
    struct kvc_source *source = simulation->replica.source;
    for (;;) {
        double sent_ns = kvc_source_next_ns(source, 0);
        kvc_engine_sleep_until_ns(sent_ns);
        double start_ns = fmax(kvc_engine_now_ns(), sent_ns);
        simulation->batch->count = 0;
        if (kvc_source_drain(source, 0, start_ns, simulation->batch) > 0) {
            serve_frame(simulation, start_ns);
        }
    }
}

/* The device has two clocks: at the full one, it does a unit of work in a tick, at the other one in two. */
static void describe(const struct kvc_scenario *scenario, struct kvc_platform *platform)
{
    double clock_hz = kvc_toydev_of(&scenario->node)->speed_mops * 1e6;
    kvc_platform_add_host(platform, kvc_platform_add_zone(platform, "node0"),
                          &(struct kvc_platform_host){
                              .name = "node0.toydev",
                              .device = "toydev",
                              .cores = 1,
                              .pstates = 2,
                              .pstate = {{.speed = 1, .clock_hz = clock_hz, .watts = {10, 30, 30}},
                                         {.speed = 0.5, .clock_hz = clock_hz / 2, .watts = {10, 18, 18}}},
                              .can_fail = true});
}

static enum kvc_status open_simulation(struct simulation *simulation, const struct kvc_run_context *context,
                                       struct kvc_diag *diag)
{
    enum { WINDOW_FRAMES = 50 };
    const struct kvc_workload *workload = &context->scenario->workload;
    const struct kvc_toy_config *config = context->scenario->config;
    uint32_t requests = config->frame_requests;
    *simulation = (struct simulation){.config = config, .platform = kvc_platform_create()};
    describe(context->scenario, simulation->platform);
    struct kvc_replica_options options = {
        .platform = simulation->platform,
        .source = kvc_scenario_source(context->scenario, 1, context->seed),
        .window_ns = WINDOW_FRAMES * requests * config->request_ns,
    };
    options.source.frame_requests = requests;
    enum kvc_status status = kvc_replica_open(&simulation->replica, context, &options, diag);
    simulation->batch = kvc_batch_create(requests, kvc_workload_key_stride(workload));
    simulation->done_ns = malloc(requests * sizeof(*simulation->done_ns));
    if (status == KVC_OK && (simulation->batch == NULL || simulation->done_ns == NULL)) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the simulation");
    }
    return status;
}

static void close_simulation(struct simulation *simulation)
{
    kvc_replica_close(&simulation->replica);
    kvc_platform_free(simulation->platform);
    kvc_batch_free(simulation->batch);
    free(simulation->done_ns);
}

static void report(struct simulation *simulation, struct kvc_result *result)
{
    struct kvc_recorder *recorder = &simulation->replica.recorder;
    result->requests_simulated = recorder->offered_in_all;
    result->gets = result->hits = simulation->completed[KVC_OP_GET];
    result->sets = simulation->completed[KVC_OP_SET];
    result->deletes = simulation->completed[KVC_OP_DELETE];
    result->completed = result->gets + result->sets + result->deletes;
    kvc_recorder_report(recorder, result);
    kvc_recorder_report_stage(recorder, "serve", "toydev", 1u << 0, 1, result);
    kvc_bottleneck_find(result);
    kvc_replica_report(&simulation->replica);
}

static enum kvc_status run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    struct simulation simulation;
    enum kvc_status status = open_simulation(&simulation, context, diag);
    if (status == KVC_OK) {
        kvc_timeline_row(context->timeline, 0, 0, "toydev", "frames");
        kvc_engine_spawn("device", device_main, &simulation);
        status = kvc_replica_run(&simulation.replica, true, diag);
    }
    if (status == KVC_OK) {
        report(&simulation, context->result);
    }
    close_simulation(&simulation);
    return status;
}

static const struct kvc_model_device devices[] = {{&kvc_toydev_kind, "toydev-1mops"}, {NULL, NULL}};

const struct kvc_model kvc_toy_model = {
    .name = "toy",
    .help = "the smallest store: one device that serves one frame at a time",
    .paper = "made up for tests",
    .options = &option_table,
    .devices = devices,
    .config_bytes = sizeof(struct kvc_toy_config),
    .resolve = resolve,
    .check = check,
    .platform = describe,
    .predict = predict,
    .run = run,
};
