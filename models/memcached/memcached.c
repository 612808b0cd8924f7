#include "models/memcached/memcached.h"

#include <stdio.h>
#include <stdlib.h>

#include "models/latency.h"
#include "models/memcached/config.h"
#include "models/memcached/cost_profile.h"
#include "models/memcached/predict.h"
#include "models/memcached/real/calibrate.h"
#include "models/memcached/real/measure.h"
#include "models/memcached/resources.h"
#include "models/memcached/room.h"
#include "models/memcached/server.h"
#include "models/memcached/store.h"
#include "models/simulate.h"
#include "sim/base/array.h"
#include "sim/devices/network.h"
#include "sim/devices/socket.h"
#include "sim/run/slices/slice_mover.h"
#include "sim/run/slices/slice_outages.h"

/* ---- machine ---- */

/* The machines are, for each socket, the processor or FPGA that serves its requests, the memory of its table,
 * the SSD of Fatcache, the ports of its NIC, and the database if there is one. An outage of a port stops the
 * server.
 *
 * The threads are one host that works at the speed of all of them, so that one number stands for what they
 * do in a slice. Threads that poll draw the same power whether there is work or not. Not modelled: PCIe, and
 * power of memory and NIC apart from what their profiles state. */

/* Hosts of one socket. */
struct machine {
    uint32_t threads, memory, nic, clients;
    uint32_t flash;    /* Fatcache: its SSD. */
    uint32_t database; /* Host of the database, if there is one. */
};

/* Returns the idle and busy power of a processor with one working core for each thread. */
static struct kvc_watts watts_of(const struct kvc_memcached_config *config)
{
    if (config->kind == KVC_MEMCACHED_FPGA) {
        double watts = config->fpga->power_w;
        return (struct kvc_watts){watts, watts, watts};
    }
    const struct kvc_cpu_pstate pstate = kvc_cpu_pstate(config->cpu, 0);
    if (!kvc_cpu_has_watts(&pstate)) {
        return (struct kvc_watts){0};
    }
    double others = config->cpu->cores > 1 ? (config->threads - 1.0) / ((double)config->cpu->cores - 1) : 0;
    double busy_w = pstate.one_core_watts + others * (pstate.all_cores_watts - pstate.one_core_watts);
    return (struct kvc_watts){config->polls ? busy_w : pstate.idle_watts, busy_w, busy_w};
}

static uint32_t add_host(struct kvc_platform *platform, uint32_t zone, const char *prefix, const char *name,
                         const struct kvc_platform_host *like)
{
    struct kvc_platform_host host = *like;
    snprintf(host.name, sizeof(host.name), "%s.%s", prefix, name);
    host.device = like->device != NULL ? like->device : name;
    host.cores = host.pstates = 1;
    return kvc_platform_add_host(platform, zone, &host);
}

static uint32_t add_link(struct kvc_platform *platform, uint32_t zone, const char *prefix, const char *name,
                         const struct kvc_nic *nic)
{
    struct kvc_platform_link link = kvc_nic_port(nic);
    snprintf(link.name, sizeof(link.name), "%s.nic.%s", prefix, name);
    return kvc_platform_add_link(platform, zone, &link);
}

static struct machine add_socket(const struct kvc_memcached_config *config, struct kvc_platform *platform,
                                 uint32_t zone, const char *prefix)
{
    const struct kvc_platform_host plain = {.pstate = {{.speed = 1}}};
    const struct kvc_platform_host threads = {
        .pstate = {{.speed = config->threads, .watts = watts_of(config)}}};
    const char *processor = config->kind == KVC_MEMCACHED_FPGA ? "fpga" : "cpu";
    struct kvc_platform_host memory = plain;
    if (config->dram != NULL) {
        memory.pstate[0].watts = kvc_dram_watts(config->dram);
        memory.is_metered_elsewhere = config->dram->busy_watts == 0;
    }
    struct machine machine = {
        .threads = add_host(platform, zone, prefix, processor, &threads),
        .memory = add_host(platform, zone, prefix, "dram", &memory),
        .nic = add_host(platform, zone, prefix, "nic", &plain),
        .clients = add_host(platform, zone, prefix, "clients", &plain),
    };
    if (config->database != NULL) {
        machine.database = add_host(platform, zone, prefix, "database", &plain);
    }
    if (config->flash != NULL) {
        const struct kvc_platform_host flash = {
            .pstate = {{.speed = 1, .watts = kvc_flash_watts(config->flash)}}};
        machine.flash = add_host(platform, zone, prefix, "flash", &flash);
    }
    uint32_t rx = add_link(platform, zone, prefix, "rx", config->nic);
    uint32_t tx = add_link(platform, zone, prefix, "tx", config->nic);
    kvc_platform_add_route(platform, machine.clients, machine.nic, &rx, 1);
    kvc_platform_add_route(platform, machine.nic, machine.clients, &tx, 1);
    return machine;
}

/* Adds the machines of a resolved scenario. `machine` has an entry for each socket of all nodes, or is NULL.
 */
static void add_machines(const struct kvc_scenario *scenario, struct kvc_platform *platform,
                         struct machine *machine)
{
    uint32_t sockets = kvc_scenario_shards(scenario), zone = 0;
    for (uint32_t i = 0; i < sockets; i++) {
        char name[KVC_PLATFORM_NAME_MAX / 2];
        kvc_socket_begin(platform, &scenario->node, i, &zone, name);
        struct machine added = add_socket(kvc_memcached_config_of(scenario), platform, zone, name);
        if (machine != NULL) {
            machine[i] = added;
        }
    }
}

/* ---- simulation ---- */

/* A server and its use of a machine. */
struct user {
    struct kvc_memcached_server server;
    struct kvc_replica *replica;
    struct kvc_slice_mover rx, tx, threads, memory, flash, database;
    double rx_ns, tx_ns, threads_ns, thread_ns, memory_ns, flash_ns,
        database_ns; /* Busy times already posted to the engine [ns]. */
    struct kvc_slice_outages outages;
    double ended_ns; /* End of the latest slice. */
    bool off;        /* Whether the server was stopped when the latest slice ended. */
};

/* Sums over all servers since they were opened. */
struct sums {
    struct kvc_index_stats stats;
    uint64_t served, ring_drops, handed_drops, queries, updates;
    struct kvc_flash_written written;
    double work_ns; /* Time for which all threads together have worked [ns]. */
};

struct simulation {
    struct kvc_replica replica;
    const struct kvc_scenario *scenario;
    struct kvc_memcached_store *store;
    struct user *users;
    struct kvc_slice_server *servers; /* The servers as actors of the engine. */
    struct kvc_slices slices;
    const struct kvc_platform *platform;
    struct machine *machines;
    struct sums first, last; /* Sums at the start and at the end of the measured time. */
};

static struct kvc_flash_busy flash_of(const struct kvc_memcached_server *server)
{
    return server->config->flash != NULL ? kvc_flash_engine_busy(&server->flash) : (struct kvc_flash_busy){0};
}

static void set_busy(const void *data, double *busy_ns)
{
    const struct user *user = data;
    const struct kvc_memcached_server *server = &user->server;
    const struct kvc_flash_busy flash = flash_of(server);
    busy_ns[KVC_MEMCACHED_AT_RECEIVE] = server->receive_busy_ns;
    busy_ns[KVC_MEMCACHED_AT_THREADS] = kvc_memcached_server_threads_busy_ns(server);
    busy_ns[KVC_MEMCACHED_AT_LOCK] = server->lock_busy_ns;
    busy_ns[KVC_MEMCACHED_AT_MEMORY] = server->memory_busy_ns;
    busy_ns[KVC_MEMCACHED_AT_CONTROLLER] = flash.controller_ns;
    busy_ns[KVC_MEMCACHED_AT_CHANNELS] = flash.channels_ns;
    busy_ns[KVC_MEMCACHED_AT_CHIPS] = flash.chips_ns;
    busy_ns[KVC_MEMCACHED_AT_INTERFACE] = flash.interface_ns;
    busy_ns[KVC_MEMCACHED_AT_SEND] = server->send_busy_ns;
    busy_ns[KVC_MEMCACHED_AT_DATABASE] = kvc_database_engine_busy_ns(&server->database);
}

/* Simulates a slice. An outage of a link stops the server. */
static uint64_t advance(void *data, double until_ns)
{
    struct user *user = data;
    struct kvc_memcached_server *server = &user->server;
    uint64_t served = server->served;
    struct kvc_slice_stop stop =
        kvc_slice_outages_split(&user->outages, until_ns - user->ended_ns, &user->off);
    user->ended_ns = until_ns;
    if (stop.before_ns > 0) {
        kvc_memcached_server_stop(server, stop.before_ns);
    }
    kvc_memcached_server_advance(server, until_ns - stop.after_ns);
    if (stop.after_ns > 0) {
        kvc_memcached_server_stop(server, stop.after_ns);
    }
    return server->served - served;
}

/* Posts the server's use of its machine since the last call, and records dropped requests. The machine has no
 * other user. */
static void share(void *data)
{
    struct user *user = data;
    struct kvc_memcached_server *server = &user->server;
    double threads_ns = kvc_memcached_server_threads_work_ns(server);
    double thread_ns = kvc_memcached_server_thread_busy_ns(server);
    double port_bytes_per_ns = (double)server->config->nic->ports * server->config->nic->bytes_per_s * 1e-9;
    kvc_slice_mover_post_busy(&user->rx, &user->rx_ns, server->receive_busy_ns, port_bytes_per_ns);
    kvc_slice_mover_post_busy(&user->tx, &user->tx_ns, server->send_busy_ns, port_bytes_per_ns);
    kvc_slice_mover_post(&user->threads, threads_ns - user->threads_ns, thread_ns - user->thread_ns);
    kvc_slice_mover_post_busy(&user->memory, &user->memory_ns, server->memory_busy_ns, 1);
    if (server->config->flash != NULL) {
        const struct kvc_flash_busy flash = flash_of(server);
        kvc_slice_mover_post_busy(&user->flash, &user->flash_ns, kvc_flash_shared_ns(&flash), 1);
    }
    user->threads_ns = threads_ns;
    user->thread_ns = thread_ns;
    if (server->config->database != NULL) {
        kvc_slice_mover_post_busy(&user->database, &user->database_ns,
                                  kvc_database_engine_busy_ns(&server->database), 1);
    }
    kvc_recorder_dropped(&user->replica->recorder, server->dropped_ns, server->dropped);
    server->dropped = 0;
}

/* ---- counters ---- */

static struct sums sum_up(const struct simulation *simulation)
{
    struct sums sums = {0};
    for (uint32_t i = 0; i < simulation->store->shards; i++) {
        const struct kvc_memcached_server *server = &simulation->users[i].server;
        kvc_index_stats_add(&sums.stats, &server->shard->stats);
        sums.served += server->served;
        sums.work_ns += kvc_memcached_server_threads_work_ns(server);
        sums.ring_drops += server->ring_drops;
        sums.handed_drops += server->handed_drops;
        sums.queries += server->database.reads;
        sums.updates += server->database.writes;
        if (server->config->flash != NULL) {
            struct kvc_flash_written written = kvc_flash_engine_written(&server->flash);
            sums.written.host += written.host;
            sums.written.programmed += written.programmed;
        }
    }
    return sums;
}

/* Saves the counters at the start and the end of the measured time. */
static void count(void *data, bool begins)
{
    struct simulation *simulation = data;
    *(begins ? &simulation->first : &simulation->last) = sum_up(simulation);
}

/* ---- setup and report ---- */

static void open_machines(void *state, const struct kvc_run_context *context, struct kvc_platform *platform)
{
    struct simulation *simulation = state;
    simulation->scenario = context->scenario;
    simulation->store = context->state;
    simulation->platform = platform;
    simulation->machines = kvc_array_of(simulation->store->shards, sizeof(*simulation->machines));
    add_machines(context->scenario, platform, simulation->machines);
}

static void set_source(void *state, struct kvc_replica_options *options)
{
    const struct simulation *simulation = state;
    options->source.sockets = (uint32_t)simulation->scenario->node.sockets;
    options->window_ns = KVC_MEMCACHED_WINDOW_NS;
}

static void open_port(struct user *user, struct kvc_slice_mover *mover, const struct kvc_platform *platform,
                      uint32_t from, uint32_t to)
{
    user->outages.platform = platform;
    kvc_slice_outages_add_route(&user->outages, from, to);
    kvc_slice_mover_own_link(mover, from, to);
}

static void open_user(struct simulation *simulation, uint32_t number)
{
    struct user *user = &simulation->users[number];
    struct kvc_replica *replica = &simulation->replica;
    const struct machine *machine = &simulation->machines[number];
    char name[KVC_NAME_MAX];
    user->replica = replica;
    kvc_memcached_server_open(&user->server, simulation->scenario, &simulation->store->shard[number],
                              replica->source, number, replica->context->seed);
    open_port(user, &user->rx, simulation->platform, machine->clients, machine->nic);
    open_port(user, &user->tx, simulation->platform, machine->nic, machine->clients);
    kvc_slice_mover_own_host(&user->threads, machine->threads);
    kvc_slice_mover_own_host(&user->memory, machine->memory);
    if (user->server.config->database != NULL) {
        kvc_slice_mover_own_host(&user->database, machine->database);
    }
    if (user->server.config->flash != NULL) {
        kvc_slice_mover_own_host(&user->flash, machine->flash);
    }
    bool last = number + 1 == simulation->store->shards;
    simulation->servers[number] =
        (struct kvc_slice_server){.slices = &simulation->slices,
                                  .next = last ? NULL : &simulation->servers[number + 1],
                                  .number = number,
                                  .answers = &user->server.answers,
                                  .advance = advance,
                                  .share = share,
                                  .busy = set_busy,
                                  .data = user};
    snprintf(name, sizeof(name), "server%u", number);
    kvc_timeline_row(replica->context->timeline, number, 0, name, "requests");
}

static void open_users(void *state)
{
    struct simulation *simulation = state;
    simulation->slices = (struct kvc_slices){.replica = &simulation->replica,
                                             .slice_ns = kvc_memcached_slice_ns(simulation->scenario),
                                             .stages = KVC_MEMCACHED_STAGES,
                                             .looks = true,
                                             .completes = kvc_memcached_goes_on(simulation->scenario)};
    simulation->users = kvc_array_of(simulation->store->shards, sizeof(*simulation->users));
    simulation->servers = kvc_array_of(simulation->store->shards, sizeof(*simulation->servers));
    for (uint32_t i = 0; i < simulation->store->shards; i++) {
        open_user(simulation, i);
    }
    kvc_engine_spawn("servers", kvc_slice_server_main, simulation->servers);
}

static void set_totals(const void *state, struct kvc_result *result)
{
    const struct simulation *simulation = state;
    kvc_slices_totals(&simulation->slices, result);
    result->preload_wall_s = simulation->store->preload_wall_s;
}

static void report_metrics(void *state, struct kvc_result *result)
{
    const struct simulation *simulation = state;
    const struct sums *first = &simulation->first, *last = &simulation->last;
    const struct kvc_memcached_config *config = kvc_memcached_config_of(simulation->scenario);
    struct kvc_metrics *kernel = &result->kernel, *model = &result->model;
    double load = 0;
    if (config->database == NULL) {
        kvc_result_add_server_latency(result, config->path_ns);
    }
    for (uint32_t i = 0; i < simulation->store->shards; i++) {
        load += kvc_memcached_shard_load_frac(&simulation->store->shard[i]) / simulation->store->shards;
    }
    kvc_metrics_set(kernel, "load_factor_frac", load);
    kvc_metrics_set_ratio(kernel, "lines_per_get",
                          (double)(last->stats.search_lines - first->stats.search_lines),
                          (double)(last->stats.searches - first->stats.searches));
    kvc_metrics_set_ratio(kernel, "lines_per_set",
                          (double)(last->stats.insert_lines - first->stats.insert_lines),
                          (double)(last->stats.inserts - first->stats.inserts));
    kvc_metrics_set(kernel, "evicted", (double)(last->stats.evicted - first->stats.evicted));
    kvc_memcached_set_polling(config, result);
    kvc_memcached_set_node_cpu(simulation->scenario, result);
    kvc_metrics_set(model, "cached_lines_frac", config->llc_frac);
    if (!config->owned && !config->loopback) {
        kvc_metrics_set(model, "fullest_ring_frac", kvc_rss_hottest_frac(simulation->users[0].server.rss));
    }
    kvc_metrics_set(model, "ring_drops", (double)(last->ring_drops - first->ring_drops));
    if (config->staged || config->shared) {
        kvc_metrics_set(model, "queue_drops", (double)(last->handed_drops - first->handed_drops));
    }
    if (config->database != NULL) {
        kvc_metrics_set(model, "database_queries", (double)(last->queries - first->queries));
        kvc_metrics_set(model, "database_updates", (double)(last->updates - first->updates));
    }
    if (config->flash != NULL && kvc_flash_translates(config->flash)) {
        kvc_metrics_set_ratio(model, "drive_amplification_ratio",
                              last->written.programmed - first->written.programmed,
                              last->written.host - first->written.host);
    }
    if (config->profile != NULL) {
        kvc_metrics_set_ratio(model, "server_ns", last->work_ns - first->work_ns,
                              (double)(last->served - first->served));
    }
    if (config->price_usd > 0) {
        kvc_metrics_set(model, "kops_per_usd", result->throughput_mops * 1e3 / config->price_usd);
    }
}

static void close_simulation(void *state)
{
    struct simulation *simulation = state;
    for (uint32_t i = 0; simulation->users != NULL && i < simulation->store->shards; i++) {
        kvc_memcached_server_close(&simulation->users[i].server);
    }
    free(simulation->users);
    free(simulation->servers);
    free(simulation->machines);
}

static bool drained(const void *state)
{
    const struct simulation *simulation = state;
    for (uint32_t i = 0; i < simulation->store->shards; i++) {
        const struct kvc_memcached_server *server = &simulation->users[i].server;
        if (server->free_count < server->requests) {
            return false;
        }
    }
    return true;
}

static const char *const parts[] = {"frame, network, receive", "wait for a thread", "thread", "send, network",
                                    NULL};

static const struct kvc_simulator simulator = {
    .state_bytes = sizeof(struct simulation),
    .machine = open_machines,
    .source = set_source,
    .open = open_users,
    .looks = true,
    .count = count,
    .drained = drained,
    .parts = parts,
    .totals = set_totals,
    .stages = kvc_memcached_stages,
    .sliced = true,
    .report = report_metrics,
    .close = close_simulation,
};

static enum kvc_status run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    return kvc_simulate_replica(&simulator, context, diag);
}

/* ---- registry ---- */

static void platform(const struct kvc_scenario *scenario, struct kvc_platform *platform)
{
    add_machines(scenario, platform, NULL);
}

static uint32_t sizes(const struct kvc_scenario *scenario, double *size)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    uint32_t count = 0;
    size[count++] = config->threads;
    size[count++] = config->buckets;
    size[count++] = (double)config->options->entries;
    size[count++] = (double)config->options->buckets;
    size[count++] = config->options->log_bytes;
    size[count++] = config->slabs.memory_slabs;
    size[count++] = config->slabs.disk_slabs;
    size[count++] = config->slabs.page_bytes;
    return count;
}

static const struct kvc_model_device memcached_devices[] = {
    {&kvc_cpu_kind, "core-i7-4770k"},
    {&kvc_dram_kind, "ddr3-1600-i7-4770k"},
    {&kvc_nic_kind, "x520-t2"},
    {&kvc_network_kind, "direct-cable-10g"},
    {&kvc_database_kind, "mysql-bg"},
    {&kvc_memcached_cost_profile_kind, NULL},
    {NULL, NULL},
};

static const struct kvc_model_device mica_devices[] = {
    {&kvc_cpu_kind, "xeon-e5-2680"},    {&kvc_dram_kind, "ddr3-1600-e5v2"},
    {&kvc_nic_kind, "x520-4x10g-mica"}, {&kvc_network_kind, "direct-cable-10g"},
    {&kvc_database_kind, "mysql-bg"},   {NULL, NULL},
};

static const struct kvc_model_device fpga_devices[] = {
    {&kvc_fpga_kind, "virtex6-sx475t"},
    {&kvc_nic_kind, "x520-t2"},
    {&kvc_network_kind, "direct-cable-10g"},
    {&kvc_database_kind, "mysql-bg"},
    {NULL, NULL},
};

static const struct kvc_model_device fatcache_devices[] = {
    {&kvc_cpu_kind, "xeon-x5670"},
    {&kvc_dram_kind, "ddr3-1333-x5670"},
    {&kvc_flash_kind, "samsung-m2-pcie-0.5tb"},
    {&kvc_nic_kind, "intel-82576"},
    {&kvc_network_kind, "direct-cable-1g"},
    {&kvc_database_kind, "mysql-bg"},
    {NULL, NULL},
};

#define SHARED                                                                                               \
    .has_sockets = true, .has_rest_power = true, .takes_tenants = true, .stages = kvc_memcached_stages,      \
    .config_bytes = sizeof(struct kvc_memcached_config), .check = kvc_memcached_check,                       \
    .rooms = kvc_memcached_rooms, .memory_bytes = kvc_memcached_memory_bytes, .platform = platform,          \
    .predict = kvc_memcached_predict, .prepare = kvc_memcached_store_create, .sizes = sizes, .run = run

const struct kvc_model kvc_memcached_model = {
    .key_bytes_most = KVC_MEMCACHED_KEY_MAX,
    .name = "memcached",
    .help =
        "baseline: memcached 1.4.15 on the cores of a CPU, over UDP or TCP, with the sockets of Linux or with "
        "PF_RING, also with clients on the same machine",
    .paper = "a baseline of Hetherington et al., SoCC 2015, and of Xu et al., PVLDB 10(4), 2016",
    .options = &kvc_memcached_option_table,
    .devices = memcached_devices,
    .resolve = kvc_memcached_resolve,
    .resources = kvc_memcached_cpu_resources,
    .measurable = &kvc_memcached_measurable,
    .calibrate = kvc_memcached_calibrate,
    SHARED,
};

const struct kvc_model kvc_memcached_mica_model = {
    .name = "mica",
    .help = "baseline: MICA, whose cores each own a partition of the keys and poll the NIC",
    .paper = "Lim et al., NSDI 2014",
    .options = &kvc_memcached_mica_option_table,
    .devices = mica_devices,
    .resolve = kvc_memcached_mica_resolve,
    .resources = kvc_memcached_cpu_resources,
    SHARED,
};

const struct kvc_model kvc_memcached_fatcache_model = {
    .key_bytes_most = KVC_MEMCACHED_KEY_MAX,
    .name = "fatcache",
    .help = "baseline: Fatcache, processes that each block for their reads of an SSD",
    .paper = "a baseline of Xu et al., PVLDB 10(4), 2016",
    .options = &kvc_memcached_fatcache_option_table,
    .devices = fatcache_devices,
    .resolve = kvc_memcached_fatcache_resolve,
    .resources = kvc_memcached_fatcache_resources,
    SHARED,
};

const struct kvc_model kvc_memcached_fpga_model = {
    .key_bytes_most = KVC_MEMCACHED_KEY_MAX,
    .name = "fpga_memcached",
    .help = "baseline: memcached as a pipeline on an FPGA, at the line rate of its port",
    .paper = "Blott et al., HotCloud 2013",
    .options = &kvc_memcached_fpga_option_table,
    .devices = fpga_devices,
    .resolve = kvc_memcached_fpga_resolve,
    .resources = kvc_memcached_fpga_resources,
    SHARED,
};
