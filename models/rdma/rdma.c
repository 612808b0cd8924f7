#include "models/rdma/rdma.h"

#include <stdlib.h>

#include "models/rdma/config.h"
#include "models/rdma/machine.h"
#include "models/rdma/predict.h"
#include "models/rdma/resources.h"
#include "models/rdma/server.h"
#include "sim/metrics/bottleneck.h"
#include "sim/run/replica.h"
#include "sim/run/replica_memory.h"
#include "sim/run/slices/slice_mover.h"
#include "sim/run/slices/slice_outages.h"
#include "sim/run/slices/slices.h"
#include "sim/workload/batch.h"

enum stage { RECEIVE, MESSAGE, CORE, KEY, SEND, STAGES };

static const double slice_ns = 4000, window_ns = 50000;
static const char host[] = "server";

struct simulation {
    struct kvc_rdma_server server;
    struct kvc_slice_server actor; /* The server, as the engine sees it. */
    struct kvc_slices slices;
    struct kvc_platform *platform;
    struct kvc_rdma_machine machine;
    struct kvc_slice_mover rx, tx, cores;
    double rx_ns, tx_ns, cores_ns, core_ns; /* Busy times that are already posted. */
    struct kvc_slice_outages outages;
    double ended_ns; /* End of the latest slice. */
    bool off;        /* Stopped at its end, as far as known. */
    struct kvc_replica replica;
};

static void set_busy(const void *data, double *busy_ns)
{
    const struct simulation *simulation = data;
    const struct kvc_rdma_server *server = &simulation->server;
    busy_ns[RECEIVE] = server->receive_busy_ns;
    busy_ns[MESSAGE] = server->message_busy_ns;
    busy_ns[CORE] = kvc_rdma_server_core_busy_ns(server);
    busy_ns[KEY] = server->key_busy_ns;
    busy_ns[SEND] = server->send_busy_ns;
}

/* Simulates a slice. An outage of a link stops the server. */
static uint64_t advance(void *data, double until_ns)
{
    struct simulation *simulation = data;
    struct kvc_rdma_server *server = &simulation->server;
    struct kvc_slice_stop stop =
        kvc_slice_outages_split(&simulation->outages, until_ns - simulation->ended_ns, &simulation->off);
    simulation->ended_ns = until_ns;
    if (stop.before_ns > 0) {
        kvc_rdma_server_stop(server, stop.before_ns);
    }
    kvc_rdma_server_advance(server, until_ns - stop.after_ns);
    if (stop.after_ns > 0) {
        kvc_rdma_server_stop(server, stop.after_ns);
    }
    return server->answers.count;
}

/* Posts what the server has taken from its machine since the last call. It is the only user. */
static void share(void *data)
{
    struct simulation *simulation = data;
    const struct kvc_rdma_server *server = &simulation->server;
    double cores_ns = kvc_rdma_server_cores_busy_ns(server), core_ns = kvc_rdma_server_core_busy_ns(server);
    double port_bytes_per_ns = (double)server->config->nic->ports * server->config->nic->bytes_per_s * 1e-9;
    kvc_slice_mover_post_busy(&simulation->rx, &simulation->rx_ns, server->receive_busy_ns,
                              port_bytes_per_ns);
    kvc_slice_mover_post_busy(&simulation->tx, &simulation->tx_ns, server->send_busy_ns, port_bytes_per_ns);
    kvc_slice_mover_post(&simulation->cores, cores_ns - simulation->cores_ns, core_ns - simulation->core_ns);
    simulation->cores_ns = cores_ns;
    simulation->core_ns = core_ns;
}

static void report(struct simulation *simulation, struct kvc_result *result)
{
    static const char *const names[STAGES][2] = {[RECEIVE] = {"receive", "nic"},
                                                 [MESSAGE] = {"message", "nic"},
                                                 [CORE] = {"core", "cpu"},
                                                 [KEY] = {"key", "nic"},
                                                 [SEND] = {"send", "nic"}};
    const uint64_t *outcome = simulation->slices.outcome;
    result->completed = simulation->slices.completed;
    result->gets = result->hits = outcome[KVC_OP_GET];
    result->sets = outcome[KVC_OP_SET];
    result->deletes = outcome[KVC_OP_DELETE];
    kvc_recorder_report(&simulation->replica.recorder, result);
    for (uint32_t i = 0; i < STAGES; i++) {
        kvc_slices_report_stage(&simulation->slices, i, names[i][0], names[i][1], 1, result);
    }
    kvc_bottleneck_find(result);
    result->requests_simulated = simulation->replica.recorder.offered_in_all;
}

static enum kvc_status open_replica(struct simulation *simulation, const struct kvc_run_context *context,
                                    struct kvc_diag *diag)
{
    const struct kvc_replica_options options = {
        .platform = simulation->platform,
        .source = kvc_scenario_source(context->scenario, 1, context->seed),
        .window_ns = window_ns,
    };
    return kvc_replica_open(&simulation->replica, context, &options, diag);
}

static void open_transfer(struct simulation *simulation, struct kvc_slice_mover *mover, uint32_t from,
                          uint32_t to)
{
    mover->outages.platform = simulation->outages.platform = simulation->platform;
    kvc_slice_outages_add_route(&mover->outages, from, to);
    kvc_slice_outages_add_route(&simulation->outages, from, to);
    kvc_slice_mover_open_transfer(mover, from, to);
}

static void open_movers(struct simulation *simulation)
{
    const struct kvc_rdma_machine *machine = &simulation->machine;
    open_transfer(simulation, &simulation->rx, machine->clients, machine->nic);
    open_transfer(simulation, &simulation->tx, machine->nic, machine->clients);
    kvc_slice_mover_open_work(&simulation->cores, machine->cpu);
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
                                                  .share = share,
                                                  .busy = set_busy,
                                                  .data = simulation};
    open_movers(simulation);
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
    simulation->machine = kvc_rdma_machine_add(context->scenario, simulation->platform);
    enum kvc_status status = open_replica(simulation, context, diag);
    if (status == KVC_OK) {
        open_server(simulation);
        status = kvc_replica_run(&simulation->replica, false, diag);
    }
    if (status == KVC_OK) {
        report(simulation, context->result);
        kvc_replica_report(&simulation->replica);
    }
    kvc_slice_mover_close(&simulation->rx);
    kvc_slice_mover_close(&simulation->tx);
    kvc_slice_mover_close(&simulation->cores);
    kvc_rdma_server_close(&simulation->server);
    kvc_replica_close(&simulation->replica);
    kvc_platform_free(simulation->platform);
    free(simulation);
    return status;
}

static void platform(const struct kvc_scenario *scenario, struct kvc_platform *platform)
{
    kvc_rdma_machine_add(scenario, platform);
}

static double memory_bytes(const struct kvc_scenario *scenario)
{
    return kvc_replica_memory_bytes(scenario, window_ns, 1);
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
    .memory_bytes = memory_bytes,
    .platform = platform,
    .resources = kvc_rdma_resources,
    .predict = kvc_rdma_predict,
    .run = run,
};
