#include "models/rdma/rdma.h"

#include "models/rdma/config.h"
#include "models/rdma/predict.h"
#include "models/rdma/resources.h"
#include "models/rdma/server.h"
#include "models/simulate.h"
#include "sim/run/replica_memory.h"
#include "sim/run/slices/slice_mover.h"
#include "sim/run/slices/slice_outages.h"

static const double slice_ns = 4000, window_ns = 50000;

/* Hosts of the machine. */
struct machine {
    uint32_t cpu, nic, clients;
};

struct simulation {
    struct kvc_replica replica;
    struct kvc_rdma_server server;
    struct kvc_slice_server actor; /* The server as an actor of the engine. */
    struct kvc_slices slices;
    const struct kvc_platform *platform;
    struct machine machine;
    struct kvc_slice_mover rx, tx, cores;
    double rx_ns, tx_ns, cores_ns, core_ns; /* Busy times already posted to the engine [ns]. */
    struct kvc_slice_outages outages;
    double ended_ns; /* End of the latest slice. */
    bool off;        /* Whether the server was stopped when the latest slice ended. */
};

/* Adds the machine of a resolved scenario to an empty platform: the cores of the server, which serve the
 * requests that the NIC does not, and the ports of its NIC. Their outages stop the server.
 *
 * The cores are one host that works at the speed of all of them, so that one number stands for what they do
 * in a slice. Not modelled: PCIe and memory, which bound the published baselines less than the NIC does, and
 * power, which is not published for them. */
static struct machine add_machine(const struct kvc_scenario *scenario, struct kvc_platform *platform)
{
    const struct kvc_rdma_config *config = kvc_rdma_config_of(scenario);
    const struct kvc_nic *nic = config->nic;
    uint32_t zone = kvc_platform_add_zone(platform, "node0");
    const struct kvc_platform_host hosts[] = {
        {.name = "node0.cpu",
         .device = "cpu",
         .cores = 1,
         .pstates = 1,
         .pstate = {{.speed = config->cores}}},
        {.name = "node0.nic", .device = "nic", .cores = 1, .pstates = 1, .pstate = {{.speed = 1}}},
        {.name = "node0.clients", .device = "clients", .cores = 1, .pstates = 1, .pstate = {{.speed = 1}}}};
    struct kvc_platform_link link = kvc_nic_port(nic);
    snprintf(link.name, sizeof(link.name), "node0.nic.rx");
    struct machine machine = {.cpu = kvc_platform_add_host(platform, zone, &hosts[0]),
                              .nic = kvc_platform_add_host(platform, zone, &hosts[1]),
                              .clients = kvc_platform_add_host(platform, zone, &hosts[2])};
    uint32_t rx = kvc_platform_add_link(platform, zone, &link);
    link.name[sizeof("node0.nic.") - 1] = 't';
    uint32_t tx = kvc_platform_add_link(platform, zone, &link);
    kvc_platform_add_route(platform, machine.clients, machine.nic, &rx, 1);
    kvc_platform_add_route(platform, machine.nic, machine.clients, &tx, 1);
    return machine;
}

static void set_busy(const void *data, double *busy_ns)
{
    const struct simulation *simulation = data;
    const struct kvc_rdma_server *server = &simulation->server;
    busy_ns[KVC_RDMA_AT_RECEIVE] = server->receive_busy_ns;
    busy_ns[KVC_RDMA_AT_MESSAGE] = server->message_busy_ns;
    busy_ns[KVC_RDMA_AT_CORE] = kvc_rdma_server_core_busy_ns(server);
    busy_ns[KVC_RDMA_AT_KEY] = server->key_busy_ns;
    busy_ns[KVC_RDMA_AT_SEND] = server->send_busy_ns;
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

/* Posts the server's use of its machine since the last call. The machine has no other user. */
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

static void open_machine(void *state, const struct kvc_run_context *context, struct kvc_platform *platform)
{
    struct simulation *simulation = state;
    simulation->platform = platform;
    simulation->machine = add_machine(context->scenario, platform);
}

static void set_source(void *state, struct kvc_replica_options *options)
{
    (void)state;
    options->window_ns = window_ns;
}

static void open_port(struct simulation *simulation, struct kvc_slice_mover *mover, uint32_t from,
                      uint32_t to)
{
    simulation->outages.platform = simulation->platform;
    kvc_slice_outages_add_route(&simulation->outages, from, to);
    kvc_slice_mover_own_link(mover, from, to);
}

static void open_server(void *state)
{
    struct simulation *simulation = state;
    const struct machine *machine = &simulation->machine;
    struct kvc_replica *replica = &simulation->replica;
    struct kvc_rdma_server *server = &simulation->server;
    kvc_rdma_server_open(server, replica->context->scenario, replica->source);
    simulation->slices = (struct kvc_slices){
        .replica = replica, .slice_ns = slice_ns, .stages = KVC_RDMA_STAGES, .looks = true};
    simulation->actor = (struct kvc_slice_server){.slices = &simulation->slices,
                                                  .answers = &server->answers,
                                                  .advance = advance,
                                                  .share = share,
                                                  .busy = set_busy,
                                                  .data = simulation};
    open_port(simulation, &simulation->rx, machine->clients, machine->nic);
    open_port(simulation, &simulation->tx, machine->nic, machine->clients);
    kvc_slice_mover_own_host(&simulation->cores, machine->cpu);
    kvc_simulate_slices(&simulation->actor, "server", "operations");
}

static void set_totals(const void *state, struct kvc_result *result)
{
    const struct simulation *simulation = state;
    kvc_slices_totals(&simulation->slices, result);
    if (simulation->replica.context->scenario->workload.arrival == KVC_ARRIVAL_TRACE) {
        kvc_result_note(result,
                        "rdma has no table: every GET counts as a hit, whatever the trace has stored");
    }
}

static void close_simulation(void *state)
{
    struct simulation *simulation = state;
    kvc_rdma_server_close(&simulation->server);
}

static bool drained(const void *state)
{
    const struct simulation *simulation = state;
    return simulation->server.free_count == simulation->server.operations;
}

static const char *const parts[] = {"network", "server", "send, network", NULL};

static const struct kvc_simulator simulator = {
    .state_bytes = sizeof(struct simulation),
    .machine = open_machine,
    .source = set_source,
    .open = open_server,
    .looks = true,
    .drained = drained,
    .parts = parts,
    .totals = set_totals,
    .stages = kvc_rdma_stages,
    .sliced = true,
    .close = close_simulation,
};

static enum kvc_status run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    return kvc_simulate_replica(&simulator, context, diag);
}

static void platform(const struct kvc_scenario *scenario, struct kvc_platform *platform)
{
    add_machine(scenario, platform);
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
    .stages = kvc_rdma_stages,
    .resources = kvc_rdma_resources,
    .predict = kvc_rdma_predict,
    .run = run,
};
