#include "models/rdma/rdma.h"

#include <stdlib.h>

#include "models/rdma/config.h"
#include "models/rdma/predict.h"
#include "models/rdma/server.h"
#include "sim/metrics/bottleneck.h"
#include "sim/run/replica.h"
#include "sim/run/slices.h"
#include "sim/workload/batch.h"

enum { HASH_SEED = 0x72646d61 };

enum stage { RECEIVE, MESSAGE, CORE, KEY, SEND, STAGES };

static const double slice_ns = 4000, window_ns = 50000;
static const char host[] = "server";

struct simulation {
    struct kvc_rdma_server server;
    struct kvc_slice_server actor; /* The server, as the engine sees it. */
    struct kvc_slices slices;
    struct kvc_platform *platform;
    struct kvc_replica replica;
};

static void set_busy(const void *data, double *busy_ns)
{
    const struct kvc_rdma_server *server = data;
    busy_ns[RECEIVE] = server->receive_busy_ns;
    busy_ns[MESSAGE] = server->message_busy_ns;
    busy_ns[CORE] = kvc_rdma_server_core_busy_ns(server);
    busy_ns[KEY] = server->key_busy_ns;
    busy_ns[SEND] = server->send_busy_ns;
}

static uint64_t advance(void *data, double until_ns)
{
    struct kvc_rdma_server *server = data;
    kvc_rdma_server_advance(server, until_ns);
    return server->answers.count;
}

static void report(struct simulation *simulation, struct kvc_result *result)
{
    static const char *const names[STAGES][2] = {[RECEIVE] = {"receive", "nic"},
                                                 [MESSAGE] = {"message", "nic"},
                                                 [CORE] = {"core", "cpu"},
                                                 [KEY] = {"key", "nic"},
                                                 [SEND] = {"send", "nic"}};
    const uint64_t *outcome = simulation->slices.outcome;
    result->offered = simulation->server.offered;
    result->completed = simulation->slices.completed;
    result->gets = result->hits = outcome[KVC_OP_GET];
    result->sets = outcome[KVC_OP_SET];
    result->deletes = outcome[KVC_OP_DELETE];
    kvc_recorder_report(&simulation->replica.recorder, result);
    for (uint32_t i = 0; i < STAGES; i++) {
        kvc_slices_report_stage(&simulation->slices, i, names[i][0], names[i][1], 1, result);
    }
    kvc_bottleneck_find(result);
    result->requests_simulated = simulation->server.offered;
}

static enum kvc_status open_replica(struct simulation *simulation, const struct kvc_run_context *context,
                                    struct kvc_diag *diag)
{
    const struct kvc_replica_options options = {
        .platform = simulation->platform,
        .source = {.workload = &context->scenario->workload,
                   .nodes = 1,
                   .sockets = 1,
                   .hash_seed = HASH_SEED,
                   .frame_requests = 1},
        .window_ns = window_ns,
    };
    return kvc_replica_open(&simulation->replica, context, &options, diag);
}

static void open_server(struct simulation *simulation)
{
    struct kvc_replica *replica = &simulation->replica;
    struct kvc_rdma_server *server = &simulation->server;
    kvc_rdma_server_open(server, replica->context->scenario, replica->source);
    simulation->slices =
        (struct kvc_slices){.replica = replica, .slice_ns = slice_ns, .stages = STAGES, .looks = true};
    simulation->actor = (struct kvc_slice_server){.slices = &simulation->slices,
                                                  .answers = &server->answers,
                                                  .advance = advance,
                                                  .busy = set_busy,
                                                  .data = server};
    kvc_timeline_row(replica->context->timeline, 0, 0, host, "operations");
    kvc_engine_spawn("server", kvc_slice_server_main, &simulation->actor);
}

static enum kvc_status run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    struct simulation *simulation = calloc(1, sizeof(*simulation));
    if (simulation == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a simulation");
    }
    simulation->platform = kvc_platform_create();
    enum kvc_status status = open_replica(simulation, context, diag);
    if (status == KVC_OK) {
        open_server(simulation);
        status = kvc_replica_run(&simulation->replica, false, diag);
    }
    if (status == KVC_OK) {
        report(simulation, context->result);
        kvc_replica_report(&simulation->replica);
    }
    kvc_rdma_server_close(&simulation->server);
    kvc_replica_close(&simulation->replica);
    kvc_platform_free(simulation->platform);
    free(simulation);
    return status;
}

static const struct kvc_model_device devices[] = {{&kvc_nic_kind, "catapult-40g"}, {NULL, NULL}};

const struct kvc_model kvc_rdma_model = {
    .name = "rdma",
    .help = "baseline: one-sided RDMA reads and atomics, or two-sided RDMA to the cores that own the keys",
    .paper = "the baselines of Li et al., SOSP 2017",
    .options = &kvc_rdma_option_table,
    .devices = devices,
    .config_bytes = sizeof(struct kvc_rdma_config),
    .resolve = kvc_rdma_resolve,
    .check = kvc_rdma_check,
    .predict = kvc_rdma_predict,
    .run = run,
};
