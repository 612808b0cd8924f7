#include "models/rdma/rdma.h"

#include <math.h>
#include <stdlib.h>

#include "models/rdma/config.h"
#include "models/rdma/predict.h"
#include "models/rdma/server.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/engine.h"
#include "sim/metrics/bottleneck.h"
#include "sim/metrics/recorder.h"
#include "sim/workload/batch.h"

enum { HASH_SEED = 0x72646d61 };

static const double slice_ns = 4000, window_ns = 50000;
static const char host[] = "server";

struct simulation {
    struct kvc_rdma_server server;
    struct kvc_recorder recorder;
    struct kvc_timeline *timeline;
    const struct kvc_progress *progress;
    double busy_from_ns[5],
        busy_ns[5]; /* when measuring began, and since: receive, message, core, key, send */
    uint64_t completed, done[KVC_OP_COUNT];
};

/* No real structures: what they cost is in the rates. */
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

static void note_busy(struct simulation *simulation, double now_ns)
{
    const struct kvc_rdma_server *server = &simulation->server;
    const double busy_ns[] = {server->receive_busy_ns, server->message_busy_ns,
                              kvc_rdma_server_core_busy_ns(server), server->key_busy_ns,
                              server->send_busy_ns};
    for (int i = 0; i < 5; i++) {
        if (now_ns <= simulation->recorder.from_ns) {
            simulation->busy_from_ns[i] = busy_ns[i];
        }
        if (now_ns <= simulation->recorder.until_ns) {
            simulation->busy_ns[i] = busy_ns[i] - simulation->busy_from_ns[i];
        }
    }
}

static void server_main(void *data)
{
    struct simulation *simulation = data;
    struct kvc_rdma_server *server = &simulation->server;
    struct kvc_recorder *recorder = &simulation->recorder;
    for (uint64_t slice = 1;; slice++) {
        uint32_t first, last;
        double now_ns = (double)slice * slice_ns;
        kvc_engine_sleep_until_ns(now_ns);
        kvc_rdma_server_advance(server, now_ns);
        note_busy(simulation, now_ns);
        kvc_recorder_latencies(recorder, now_ns, server->sent_ns, server->done_ns, server->answers);
        kvc_recorder_completions(recorder, now_ns, server->done_ns, server->answers, &first, &last);
        for (uint32_t i = first; i < last; i++) {
            simulation->done[server->op[i]]++;
        }
        simulation->completed += last - first;
        kvc_timeline_event(simulation->timeline, 0, 0, "operations", now_ns - slice_ns, slice_ns,
                           server->answers);
        server->answers = 0;
        if (fmod(now_ns, window_ns) >= slice_ns) {
            continue;
        }
        if (kvc_recorder_check(recorder, now_ns) || kvc_source_error(server->source, NULL) != KVC_OK) {
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
    static const char *const names[][2] = {
        {"receive", "nic"}, {"message", "nic"}, {"core", "cpu"}, {"key", "nic"}, {"send", "nic"}};
    const struct kvc_recorder *recorder = &simulation->recorder;
    double measured_ns = recorder->until_ns - recorder->from_ns;
    result->offered = simulation->server.offered;
    result->completed = simulation->completed;
    result->gets = result->hits = simulation->done[KVC_OP_GET];
    result->sets = simulation->done[KVC_OP_SET];
    result->deletes = simulation->done[KVC_OP_DELETE];
    kvc_recorder_report(&simulation->recorder, result);
    for (int i = 0; i < 5; i++) {
        struct kvc_stage_result *stage = kvc_result_add_stage(result, names[i][0], names[i][1],
                                                              fmin(simulation->busy_ns[i] / measured_ns, 1));
        stage->busy_s = simulation->busy_ns[i] * 1e-9;
        stage->served = simulation->completed;
    }
    kvc_bottleneck_find(result);
    result->requests_simulated = simulation->server.offered;
}

static enum kvc_status simulate(const struct kvc_scenario *scenario, struct simulation *simulation,
                                const char *platform_path, uint64_t seed, struct kvc_diag *diag)
{
    const struct kvc_source_params params = {.workload = &scenario->workload,
                                             .nodes = 1,
                                             .sockets = 1,
                                             .seed = seed,
                                             .hash_seed = HASH_SEED,
                                             .frame_requests = 1};
    struct kvc_engine_host hosts = {.cores = 1};
    snprintf(hosts.name, sizeof(hosts.name), "%s", host);
    enum kvc_status status = kvc_engine_open(platform_path, &hosts, 1, diag);
    struct kvc_source *source = status == KVC_OK ? kvc_source_create(&params, diag) : NULL;
    if (source == NULL) {
        return status != KVC_OK ? status : diag->status;
    }
    kvc_rdma_server_open(&simulation->server, scenario, source);
    status = kvc_recorder_open(&simulation->recorder, window_ns, scenario->run.warmup_ns,
                               scenario->run.duration_ns, diag);
    if (status == KVC_OK) {
        kvc_timeline_row(simulation->timeline, 0, 0, host, "operations");
        kvc_engine_spawn("server", host, server_main, simulation);
        kvc_engine_run();
        status = kvc_source_error(source, diag);
    }
    return status;
}

static enum kvc_status run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    double started_s = kvc_clock_wall_s();
    const struct kvc_scenario *scenario = context->scenario;
    struct kvc_result *result = context->result;
    struct kvc_rng seeds;
    struct simulation *simulation = calloc(1, sizeof(*simulation));
    if (simulation == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a simulation");
    }
    simulation->timeline = context->timeline;
    simulation->progress = context->progress;
    kvc_rng_init(&seeds, scenario->run.seed, "replica", context->replica);
    uint64_t seed = kvc_rng_u64(&seeds);
    enum kvc_status status = simulate(scenario, simulation, context->platform_path, seed, diag);
    if (status == KVC_OK) {
        report(simulation, result);
        result->activities = kvc_engine_activities();
        result->engine_wall_s = kvc_engine_wall_s();
        result->wall_s = kvc_clock_wall_s() - started_s;
    }
    kvc_source_free(simulation->server.source);
    kvc_rdma_server_close(&simulation->server);
    kvc_recorder_close(&simulation->recorder);
    free(simulation);
    return status;
}

static const struct kvc_model_device devices[] = {{&kvc_nic_kind, "catapult-40g"}, {NULL, NULL}};

const struct kvc_model kvc_rdma_model = {
    .name = "rdma",
    .help = "baseline: one-sided RDMA reads and atomics, or two-sided RDMA to the cores that own the keys",
    .paper = "as Li et al., SOSP 2017, compare with",
    .options = &kvc_rdma_option_table,
    .devices = devices,
    .config_bytes = sizeof(struct kvc_rdma_config),
    .resolve = kvc_rdma_resolve,
    .check = kvc_rdma_check,
    .memory_bytes = memory_bytes,
    .predict = kvc_rdma_predict,
    .prepare = prepare,
    .run = run,
    .free = free_state,
};
