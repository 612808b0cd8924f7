#include "models/memcached/run.h"

#include <stdio.h>
#include <stdlib.h>

#include "models/memcached/config.h"
#include "models/memcached/machine.h"
#include "models/memcached/server.h"
#include "models/memcached/store.h"
#include "sim/base/array.h"
#include "sim/metrics/bottleneck.h"
#include "sim/run/replica.h"
#include "sim/run/slices/slice_mover.h"
#include "sim/run/slices/slice_outages.h"
#include "sim/run/slices/slices.h"

enum stage { RECEIVE, THREADS, LOCK, MEMORY, CONTROLLER, CHANNELS, CHIPS, INTERFACE, SEND, DATABASE, STAGES };

/* A server as a user of its machine. */
struct user {
    struct kvc_memcached_server server;
    struct kvc_replica *replica;
    struct kvc_slice_mover rx, tx, threads, memory, flash, database;
    double rx_ns, tx_ns, threads_ns, thread_ns, memory_ns, flash_ns,
        database_ns; /* Busy times that are already posted. */
    struct kvc_slice_outages outages;
    double ended_ns; /* End of the latest slice. */
    bool off;        /* Stopped at its end, as far as known. */
};

/* Sums over all servers since they were opened. */
struct sums {
    struct kvc_index_stats stats;
    uint64_t served, ring_drops, handed_drops, queries, updates;
    struct kvc_flash_written written;
};

struct simulation {
    const struct kvc_scenario *scenario;
    struct kvc_memcached_store *store;
    struct user *users;
    struct kvc_slice_server *servers; /* The same, as the engine sees them. */
    struct kvc_slices slices;
    struct kvc_platform *platform;
    struct kvc_memcached_machine *machines;
    struct kvc_replica replica;
    struct sums first, last; /* When the measured time began and when it ended. */
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
    busy_ns[RECEIVE] = server->receive_busy_ns;
    busy_ns[THREADS] = kvc_memcached_server_thread_busy_ns(server);
    busy_ns[LOCK] = server->lock_busy_ns;
    busy_ns[MEMORY] = server->memory_busy_ns;
    busy_ns[CONTROLLER] = flash.controller_ns;
    busy_ns[CHANNELS] = flash.channels_ns;
    busy_ns[CHIPS] = flash.chips_ns;
    busy_ns[INTERFACE] = flash.interface_ns;
    busy_ns[SEND] = server->send_busy_ns;
    busy_ns[DATABASE] = kvc_database_engine_busy_ns(&server->database);
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

/* Posts what the server has taken from its machine since the last call, of which it is the only user, and
 * records what it has lost. */
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

/* Takes the counters at the begin and the end of the measured time. */
static void count(void *data, bool begins)
{
    struct simulation *simulation = data;
    *(begins ? &simulation->first : &simulation->last) = sum_up(simulation);
}

/* ---- setup and report ---- */

static void open_transfer(struct user *user, struct kvc_slice_mover *mover,
                          const struct kvc_platform *platform, uint32_t from, uint32_t to)
{
    mover->outages.platform = user->outages.platform = platform;
    kvc_slice_outages_add_route(&mover->outages, from, to);
    kvc_slice_outages_add_route(&user->outages, from, to);
    kvc_slice_mover_open_transfer(mover, from, to);
}

static void open_user(struct simulation *simulation, uint32_t number)
{
    struct user *user = &simulation->users[number];
    struct kvc_replica *replica = &simulation->replica;
    const struct kvc_memcached_machine *machine = &simulation->machines[number];
    char name[KVC_NAME_MAX];
    user->replica = replica;
    kvc_memcached_server_open(&user->server, simulation->scenario, &simulation->store->shard[number],
                              replica->source, number, replica->context->seed);
    open_transfer(user, &user->rx, simulation->platform, machine->clients, machine->nic);
    open_transfer(user, &user->tx, simulation->platform, machine->nic, machine->clients);
    kvc_slice_mover_open_work(&user->threads, machine->threads);
    kvc_slice_mover_open_work(&user->memory, machine->memory);
    if (user->server.config->database != NULL) {
        kvc_slice_mover_open_work(&user->database, machine->database);
    }
    if (user->server.config->flash != NULL) {
        kvc_slice_mover_open_work(&user->flash, machine->flash);
    }
    simulation->servers[number] = (struct kvc_slice_server){.slices = &simulation->slices,
                                                            .number = number,
                                                            .answers = &user->server.answers,
                                                            .advance = advance,
                                                            .share = share,
                                                            .busy = set_busy,
                                                            .data = user};
    snprintf(name, sizeof(name), "server%u", number);
    kvc_timeline_row(replica->context->timeline, number, 0, name, "requests");
    kvc_engine_spawn("server", kvc_slice_server_main, &simulation->servers[number]);
}

static void open_users(struct simulation *simulation)
{
    simulation->slices = (struct kvc_slices){.replica = &simulation->replica,
                                             .slice_ns = kvc_memcached_slice_ns(simulation->scenario),
                                             .stages = STAGES,
                                             .completes = kvc_memcached_goes_on(simulation->scenario),
                                             .hit = KVC_MEMCACHED_HIT,
                                             .miss = KVC_MEMCACHED_MISS};
    simulation->users = kvc_array_of(simulation->store->shards, sizeof(*simulation->users));
    simulation->servers = kvc_array_of(simulation->store->shards, sizeof(*simulation->servers));
    for (uint32_t i = 0; i < simulation->store->shards; i++) {
        open_user(simulation, i);
    }
}

static enum kvc_status open_replica(struct simulation *simulation, const struct kvc_run_context *context,
                                    struct kvc_diag *diag)
{
    const struct kvc_scenario *scenario = context->scenario;
    const struct kvc_replica_options options = {
        .platform = simulation->platform,
        .source = kvc_scenario_source(scenario, (uint32_t)scenario->node.sockets, context->seed),
        .window_ns = KVC_MEMCACHED_WINDOW_NS,
    };
    enum kvc_status status = kvc_replica_open(&simulation->replica, context, &options, diag);
    simulation->replica.monitor.count = count;
    simulation->replica.monitor.data = simulation;
    return status;
}

static void report_stages(const struct simulation *simulation, struct kvc_result *result)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(simulation->scenario);
    bool locks = config->locks_gets || simulation->scenario->workload.get_frac < 1;
    const char *processor = config->kind == KVC_MEMCACHED_FPGA ? "fpga" : "cpu";
    bool flash = config->flash != NULL;
    const struct {
        const char *name, *device;
        bool used;
    } stages[STAGES] = {
        [RECEIVE] = {"receive", "nic", true},
        [THREADS] = {"threads", processor, true},
        [LOCK] = {"lock", "cpu", config->locks_sets && locks},
        [MEMORY] = {"memory", "dram", true},
        [CONTROLLER] = {"controller", "flash", flash && config->flash->operation_ns > 0},
        [CHANNELS] = {"channels", "flash", flash},
        [CHIPS] = {"chips", "flash", flash},
        [INTERFACE] = {"interface", "flash", flash && config->flash->interface_bytes_per_s > 0},
        [SEND] = {"send", "nic", true},
        [DATABASE] = {"database", "database", config->database != NULL}};
    for (uint32_t i = 0; i < STAGES; i++) {
        if (stages[i].used) {
            kvc_slices_report_stage(&simulation->slices, i, stages[i].name, stages[i].device,
                                    simulation->store->shards, result);
        }
    }
}

static void report_metrics(const struct simulation *simulation, struct kvc_result *result)
{
    const struct sums *first = &simulation->first, *last = &simulation->last;
    const struct kvc_memcached_config *config = kvc_memcached_config_of(simulation->scenario);
    struct kvc_metrics *kernel = &result->kernel, *model = &result->model;
    double load = 0;
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
    kvc_metrics_set(model, "cached_lines_frac", config->llc_frac);
    if (!config->owned) {
        kvc_metrics_set(model, "fullest_ring_frac", kvc_rss_hottest_frac(simulation->users[0].server.rss));
    }
    kvc_metrics_set(model, "ring_drops", (double)(last->ring_drops - first->ring_drops));
    if (config->staged) {
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
    if (config->price_usd > 0) {
        kvc_metrics_set(model, "kops_per_usd", result->throughput_mops * 1e3 / config->price_usd);
    }
}

static void report(struct simulation *simulation, struct kvc_result *result)
{
    const uint64_t *outcome = simulation->slices.outcome;
    result->completed = simulation->slices.completed;
    result->hits = outcome[KVC_MEMCACHED_HIT];
    result->misses = outcome[KVC_MEMCACHED_MISS];
    result->gets = result->hits + result->misses;
    result->sets = outcome[KVC_MEMCACHED_SET_DONE];
    result->deletes = outcome[KVC_MEMCACHED_DELETE_DONE];
    kvc_recorder_report(&simulation->replica.recorder, result);
    report_stages(simulation, result);
    report_metrics(simulation, result);
    kvc_bottleneck_find(result);
    result->requests_simulated = simulation->replica.recorder.offered_in_all;
    result->preload_wall_s = simulation->store->preload_wall_s;
}

static void close_simulation(struct simulation *simulation)
{
    for (uint32_t i = 0; simulation->users != NULL && i < simulation->store->shards; i++) {
        struct user *user = &simulation->users[i];
        kvc_slice_mover_close(&user->rx);
        kvc_slice_mover_close(&user->tx);
        kvc_slice_mover_close(&user->threads);
        kvc_slice_mover_close(&user->memory);
        kvc_slice_mover_close(&user->database);
        kvc_slice_mover_close(&user->flash);
        kvc_memcached_server_close(&user->server);
    }
    free(simulation->users);
    free(simulation->servers);
    free(simulation->machines);
    kvc_replica_close(&simulation->replica);
    kvc_platform_free(simulation->platform);
    free(simulation);
}

enum kvc_status kvc_memcached_run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    struct simulation *simulation = calloc(1, sizeof(*simulation));
    if (simulation == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a simulation");
    }
    simulation->scenario = context->scenario;
    simulation->store = context->state;
    simulation->platform = kvc_platform_create();
    simulation->machines = kvc_array_of(simulation->store->shards, sizeof(*simulation->machines));
    kvc_memcached_machine_add(context->scenario, simulation->platform, simulation->machines);
    enum kvc_status status = open_replica(simulation, context, diag);
    if (status == KVC_OK) {
        open_users(simulation);
        status = kvc_replica_run(&simulation->replica, true, diag);
    }
    if (status == KVC_OK) {
        report(simulation, context->result);
        kvc_replica_report(&simulation->replica);
    }
    close_simulation(simulation);
    return status;
}
