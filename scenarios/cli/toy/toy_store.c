/* A store: its options, its checks, its closed form and its simulation, and a descriptor for the registry. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "scenarios/cli/toy/toy.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/engine.h"
#include "sim/metrics/bottleneck.h"
#include "sim/metrics/recorder.h"
#include "sim/workload/source.h"

enum { HASH_SEED = 0x746f79 };

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

/* Time that the device takes for a request [ns]. */
static double service_ns(const struct kvc_scenario *scenario)
{
    const struct kvc_toy_options *options = scenario->options;
    return options->work / kvc_toydev_of(&scenario->node)->speed_mops * 1e3;
}

/* The device takes requests as they come, so frames are no longer than the user says. */
static uint32_t frame_requests(const struct kvc_scenario *scenario)
{
    uint64_t requests = scenario->workload.frame_requests;
    return requests > 0 ? (uint32_t)requests : 1;
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
    double request_ns = service_ns(scenario), requests = frame_requests(scenario);
    double capacity_mops = 1e3 / request_ns;
    double load = kvc_workload_rate_max_mops(&scenario->workload) / capacity_mops;
    double wait_ns = load / (2 * (1 - load)) * requests * request_ns;
    bool saturated = scenario->workload.arrival == KVC_ARRIVAL_SATURATE;
    result->throughput_mops = fmin(load, 1) * capacity_mops;
    result->latency_mean_us =
        load < 1 || saturated ? ((saturated ? 0 : wait_ns) + (requests + 1) / 2 * request_ns) / 1e3 : NAN;
    result->latency_p95_us = NAN;
    kvc_metrics_set(&result->model, "capacity_mops", capacity_mops);
    kvc_result_add_stage(result, "serve", "toydev", fmin(load, 1));
    kvc_bottleneck_find(result);
    return KVC_OK;
}

struct simulation {
    struct kvc_source *source;
    struct kvc_batch *batch;
    struct kvc_recorder recorder;
    struct kvc_timeline *timeline;
    const struct kvc_progress *progress;
    double request_ns; /* Service time of a request [ns]. */
    double *done_ns;   /* When each request of the batch completes [ns]. */
    uint64_t offered;
    uint64_t completed[KVC_OP_COUNT]; /* Within the measured time. */
};

/* Keeps the device busy with a frame that came in at start_ns at the latest. The frame is one activity of the
 * engine; within it, the requests complete one after the other. */
static void serve_frame(struct simulation *simulation, double start_ns)
{
    struct kvc_batch *batch = simulation->batch;
    uint32_t first, last;
    for (uint32_t i = 0; i < batch->count; i++) {
        batch->sent_ns[i] = isnan(batch->sent_ns[i]) ? start_ns : batch->sent_ns[i]; /* saturating clients */
        simulation->done_ns[i] = start_ns + (i + 1) * simulation->request_ns;
    }
    kvc_engine_occupy_ns(batch->count * simulation->request_ns);
    double end_ns = simulation->done_ns[batch->count - 1];
    kvc_recorder_latencies(&simulation->recorder, end_ns, batch->sent_ns, simulation->done_ns, batch->count);
    kvc_recorder_completions(&simulation->recorder, end_ns, simulation->done_ns, batch->count, &first, &last);
    kvc_recorder_busy(&simulation->recorder, 0, start_ns, end_ns);
    kvc_timeline_event(simulation->timeline, 0, 0, "serve", start_ns, end_ns - start_ns, batch->count);
    for (uint32_t i = first; i < last; i++) {
        simulation->completed[batch->op[i]]++;
    }
    simulation->offered += batch->count;
}

/* The actor of the device. */
static void device_main(void *data)
{
    struct simulation *simulation = data;
    for (;;) {
        double sent_ns = kvc_source_next_ns(simulation->source, 0);
        kvc_engine_sleep_until_ns(sent_ns);
        double start_ns = fmax(kvc_engine_now_ns(), sent_ns);
        simulation->batch->count = 0;
        if (kvc_source_drain(simulation->source, 0, start_ns, simulation->batch) > 0) {
            serve_frame(simulation, start_ns);
        }
    }
}

/* The actor that ends the warm-up and the run. */
static void monitor_main(void *data)
{
    struct simulation *simulation = data;
    struct kvc_recorder *recorder = &simulation->recorder;
    for (uint64_t window = 1;; window++) {
        double now_ns = (double)window * recorder->window_ns;
        kvc_engine_sleep_until_ns(now_ns);
        if (kvc_recorder_check(recorder, now_ns)) {
            kvc_engine_stop();
        }
        if (isfinite(recorder->from_ns)) {
            kvc_progress_report(simulation->progress, "measure",
                                (now_ns - recorder->from_ns) / recorder->duration_ns);
        }
    }
}

static void report(struct simulation *simulation, struct kvc_result *result)
{
    const struct kvc_recorder *recorder = &simulation->recorder;
    double busy_ns = recorder->busy_ns[0];
    result->offered = result->requests_simulated = simulation->offered;
    result->gets = result->hits = simulation->completed[KVC_OP_GET];
    result->sets = simulation->completed[KVC_OP_SET];
    result->deletes = simulation->completed[KVC_OP_DELETE];
    result->completed = result->gets + result->sets + result->deletes;
    kvc_recorder_report(&simulation->recorder, result);
    struct kvc_stage_result *stage =
        kvc_result_add_stage(result, "serve", "toydev", busy_ns / (recorder->until_ns - recorder->from_ns));
    stage->busy_s = busy_ns * 1e-9;
    stage->served = result->completed;
    kvc_bottleneck_find(result);
    result->activities = kvc_engine_activities();
    result->engine_wall_s = kvc_engine_wall_s();
}

static enum kvc_status open_simulation(struct simulation *simulation, const struct kvc_run_context *context,
                                       struct kvc_diag *diag)
{
    static const struct kvc_engine_host hosts[] = {{.name = "toydev", .cores = 1}};
    enum { WINDOW_REQUESTS = 50 };
    const struct kvc_scenario *scenario = context->scenario;
    struct kvc_rng seeds;
    kvc_rng_init(&seeds, scenario->run.seed, "replica", context->replica);
    const struct kvc_source_params params = {.workload = &scenario->workload,
                                             .nodes = 1,
                                             .sockets = 1,
                                             .seed = kvc_rng_u64(&seeds),
                                             .hash_seed = HASH_SEED,
                                             .frame_requests = frame_requests(scenario)};
    *simulation = (struct simulation){
        .timeline = context->timeline, .progress = context->progress, .request_ns = service_ns(scenario)};
    enum kvc_status status = kvc_recorder_open(
        &simulation->recorder, WINDOW_REQUESTS * params.frame_requests * simulation->request_ns,
        scenario->run.warmup_ns, scenario->run.duration_ns, diag);
    if (status == KVC_OK) {
        status = kvc_engine_open(context->platform_path, hosts, 1, diag);
    }
    if (status == KVC_OK) {
        simulation->source = kvc_source_create(&params, diag);
        simulation->batch =
            kvc_batch_create(params.frame_requests, kvc_workload_key_stride(&scenario->workload));
        simulation->done_ns = malloc(params.frame_requests * sizeof(*simulation->done_ns));
        if (simulation->source == NULL || simulation->batch == NULL || simulation->done_ns == NULL) {
            status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the simulation");
        }
    }
    return status;
}

static void close_simulation(struct simulation *simulation)
{
    kvc_recorder_close(&simulation->recorder);
    kvc_source_free(simulation->source);
    kvc_batch_free(simulation->batch);
    free(simulation->done_ns);
}

static enum kvc_status run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    double started_s = kvc_clock_wall_s();
    struct simulation simulation;
    enum kvc_status status = open_simulation(&simulation, context, diag);
    if (status == KVC_OK) {
        kvc_timeline_row(simulation.timeline, 0, 0, "toydev", "frames");
        kvc_engine_spawn("device", "toydev", device_main, &simulation);
        kvc_engine_spawn("monitor", "toydev", monitor_main, &simulation);
        kvc_engine_run();
        report(&simulation, context->result);
        context->result->wall_s = kvc_clock_wall_s() - started_s;
    }
    close_simulation(&simulation);
    return status;
}

/* The store has no data structures to build before a run. */
static double memory_bytes(const struct kvc_scenario *scenario)
{
    (void)scenario;
    return 0;
}

static enum kvc_status prepare(const struct kvc_scenario *scenario, void **state,
                               const struct kvc_progress *progress, struct kvc_diag *diag)
{
    (void)scenario;
    (void)progress;
    (void)diag;
    *state = NULL;
    return KVC_OK;
}

static void free_state(void *state)
{
    (void)state;
}

static const struct kvc_model_device devices[] = {{&kvc_toydev_kind, "toydev-1mops"}, {NULL, NULL}};

const struct kvc_model kvc_toy_model = {
    .name = "toy",
    .help = "the smallest store: one device that serves one frame at a time",
    .paper = "made up for tests",
    .options = &option_table,
    .devices = devices,
    .check = check,
    .memory_bytes = memory_bytes,
    .predict = predict,
    .prepare = prepare,
    .run = run,
    .free = free_state,
};
