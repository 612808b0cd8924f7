#include "scenarios/cli/toy/toy.h"

#include <math.h>
#include <stdlib.h>

#include "models/latency.h"
#include "models/simulate.h"
#include "sim/base/array.h"
#include "sim/devices/node.h"
#include "sim/engine.h"
#include "sim/metrics/bottleneck.h"

/* ---- device: a struct, the table of its options, and a descriptor for the registry ---- */

/* The device. */
struct kvc_toydev {
    char name[KVC_TEXT_MAX];
    double speed_mops; /* Units of work per time [million/s]. */
};

static const struct kvc_option device_rows[] = {
    KVC_TEXT_ROW(kvc_toydev, "name", name, "", "Name of the device in lists."),
    KVC_REAL_ROW(kvc_toydev, "speed", speed_mops, KVC_UNIT_MOPS, 1e-3, 1e3, NULL,
                 "Units of work per second; a faster device serves a request sooner."),
};

static const struct kvc_option_table device_options = KVC_OPTION_TABLE(kvc_toydev, device_rows, "toydev");

const struct kvc_device_kind kvc_toydev_kind = {
    .name = "toydev", .help = "Device of the smallest store: speed", .options = &device_options};

/* The node's toydev. */
static const struct kvc_toydev *kvc_toydev_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_toydev_kind);
}

/* ---- store: its options, its closed form and its simulation, and a descriptor for the registry ---- */

/* The options of the store, as the user writes them. */
struct kvc_toy_options {
    double work; /* Units of work that a request costs the device. */
};

/* Values derived from the options, the node and the workload. */
struct kvc_toy_config {
    double request_ns;       /* Time that the device takes for a request [ns]. */
    uint32_t frame_requests; /* Requests per frame; 1 unless the user says more. */
};

enum { DEVICE = 0, SERVE = 0 }; /* Number of the device in the platform, and of the stage. */

static const struct kvc_option rows[] = {
    KVC_REAL_ROW(kvc_toy_options, "work", work, KVC_UNIT_NONE, 1e-3, 1e3, "1",
                 "Units of work that a request costs the device; more work takes longer."),
};

static const struct kvc_option_table option_table = KVC_OPTION_TABLE(kvc_toy_options, rows, "system");

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

static uint32_t stages(const struct kvc_scenario *scenario, struct kvc_model_stage *stage)
{
    (void)scenario;
    stage[SERVE] = (struct kvc_model_stage){"serve", "toydev", .servers = 1};
    return 1;
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
    result->throughput_mops = fmin(load, 1) * capacity_mops;
    /* Saturating clients send when the device is free. */
    struct kvc_latency_law law = {.assumes = "the requests of a frame are served one by one"};
    kvc_latency_add(&law, 1, config->request_ns, frame_ns - config->request_ns);
    kvc_latency_queue(&law, &scenario->workload,
                      &(struct kvc_latency_queue){.name = "serve",
                                                  .servers = 1,
                                                  .job_ns = frame_ns,
                                                  .utilization_frac = load,
                                                  .share = 1,
                                                  .equals_frac = 1,
                                                  .visits = 1});
    kvc_result_set_latencies(result, &law, &scenario->workload);
    kvc_metrics_set(&result->model, "capacity_mops", capacity_mops);
    kvc_stages_predict(stages, scenario, &load, result);
    kvc_bottleneck_find(result);
    return KVC_OK;
}

struct simulation {
    struct kvc_replica replica;
    const struct kvc_toy_config *config;
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
    kvc_recorder_completions(recorder, end_ns, batch->sent_ns, simulation->done_ns, batch->count, &first,
                             &last);
    kvc_recorder_busy(recorder, SERVE, start_ns, end_ns);
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

static void add_machine(void *state, const struct kvc_run_context *context, struct kvc_platform *platform)
{
    ((struct simulation *)state)->config = context->scenario->config;
    describe(context->scenario, platform);
}

static void set_source(void *state, struct kvc_replica_options *options)
{
    enum { WINDOW_FRAMES = 50 };
    const struct kvc_toy_config *config = ((struct simulation *)state)->config;
    options->source.frame_requests = config->frame_requests;
    options->window_ns = WINDOW_FRAMES * config->frame_requests * config->request_ns;
}

static void open_device(void *state)
{
    struct simulation *simulation = state;
    const struct kvc_run_context *context = simulation->replica.context;
    uint32_t requests = simulation->config->frame_requests;
    simulation->batch = kvc_batch_create(requests, kvc_workload_key_stride(&context->scenario->workload));
    simulation->done_ns = kvc_array_of(requests, sizeof(*simulation->done_ns));
    kvc_timeline_row(context->timeline, 0, 0, "toydev", "frames");
    kvc_engine_spawn("device", device_main, simulation);
}

static void set_totals(const void *state, struct kvc_result *result)
{
    const uint64_t *completed = ((const struct simulation *)state)->completed;
    result->hits = completed[KVC_OP_GET];
    result->sets = completed[KVC_OP_SET];
    result->deletes = completed[KVC_OP_DELETE];
    result->completed = result->hits + result->sets + result->deletes;
}

static void close_device(void *state)
{
    struct simulation *simulation = state;
    kvc_batch_free(simulation->batch);
    free(simulation->done_ns);
}

static const struct kvc_simulator simulator = {
    .state_bytes = sizeof(struct simulation),
    .machine = add_machine,
    .source = set_source,
    .open = open_device,
    .totals = set_totals,
    .stages = stages,
    .close = close_device,
};

static enum kvc_status run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    return kvc_simulate_replica(&simulator, context, diag);
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
    .stages = stages,
    .predict = predict,
    .run = run,
};
