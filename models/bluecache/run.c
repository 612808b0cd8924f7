#include "models/bluecache/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/bluecache/cluster.h"
#include "models/bluecache/machine.h"
#include "models/bluecache/predict.h"
#include "sim/base/array.h"
#include "sim/metrics/bottleneck.h"
#include "sim/run/replica.h"
#include "sim/run/replica_memory.h"
#include "sim/run/slices/slice_mover.h"
#include "sim/run/slices/slices.h"

enum stage { CALL, IN, FABRIC, DRAM, CONTROLLER, CHANNELS, CHIPS, INTERFACE, OUT, WAKE, DATABASE, STAGES };

/* Nothing within a slice depends on the engine. With few requests a second, a slice is longer, so that it has
 * some: the engine takes microseconds for each. */
static const double slice_least_ns = 50000, slice_most_ns = 1e6, slice_requests = 64, slices_least = 200;

/* What a node has posted to its devices so far. */
struct posted {
    struct kvc_slice_mover in, out, dram, flash;
    double in_ns, out_ns, dram_ns, flash_ns;
};

/* Likewise for the links between two neighbours. */
struct edge {
    struct kvc_slice_mover mover;
    double busy_ns;
    uint32_t number; /* from * nodes + to. */
};

struct counters {
    struct kvc_bluecache_store_stats store;
    uint64_t served, gets, dram_hits, flash_hits, flash_reads, remote, set_bytes;
    uint64_t segments, flushes, bursts;
    uint64_t asked; /* Programs that the logs have asked for. */
    uint64_t programs, erases, queries, updates;
    struct kvc_flash_written written;
};

struct simulation {
    const struct kvc_scenario *scenario;
    struct kvc_bluecache_shards *shards;
    struct kvc_bluecache_cluster cluster;
    struct posted *posted;
    struct edge *edge;
    uint32_t edges;
    struct kvc_slice_mover database;
    double database_ns; /* Likewise for the database. */
    struct kvc_slices slices;
    struct kvc_slice_server server;
    struct kvc_platform *platform;
    struct kvc_bluecache_machine *machines;
    struct kvc_replica replica;
    struct counters first, last; /* When the measured time began and when it ended. */
};

/* ---- slices ---- */

static uint64_t advance(void *data, double until_ns)
{
    struct simulation *simulation = data;
    uint64_t served = simulation->cluster.served;
    kvc_bluecache_cluster_advance(&simulation->cluster, until_ns);
    return simulation->cluster.served - served;
}

static void set_busy(const void *data, double *busy_ns)
{
    const struct simulation *simulation = data;
    const struct kvc_bluecache_cluster *cluster = &simulation->cluster;
    const struct kvc_bluecache_config *config = cluster->config;
    for (uint32_t i = 0; i < STAGES; i++) {
        busy_ns[i] = 0;
    }
    for (uint32_t i = 0; i < config->nodes; i++) {
        const struct kvc_bluecache_node *node = &cluster->node[i];
        const struct kvc_flash_busy flash = kvc_flash_engine_busy(&node->flash);
        busy_ns[CALL] += node->host.call_busy_ns;
        busy_ns[IN] += node->in_busy_ns;
        busy_ns[DRAM] += node->dram_busy_ns / config->dram_channels;
        busy_ns[CONTROLLER] += flash.controller_ns;
        busy_ns[CHANNELS] += flash.channels_ns;
        busy_ns[CHIPS] += flash.chips_ns;
        busy_ns[INTERFACE] += flash.interface_ns;
        busy_ns[OUT] += node->out_busy_ns;
        busy_ns[WAKE] += node->host.thread_busy_ns;
    }
    busy_ns[DATABASE] = kvc_database_engine_busy_ns(&cluster->database);
    for (uint32_t i = 0; i < simulation->edges; i++) { /* The busiest link. */
        busy_ns[FABRIC] = fmax(busy_ns[FABRIC], cluster->edge_busy_ns[simulation->edge[i].number]);
    }
}

/* Posts what the cluster has taken from its machines since the last call. It is their only user. */
static void share(void *data)
{
    struct simulation *simulation = data;
    const struct kvc_bluecache_config *config = simulation->cluster.config;
    for (uint32_t i = 0; i < config->nodes; i++) {
        const struct kvc_bluecache_node *node = &simulation->cluster.node[i];
        const struct kvc_flash_busy flash = kvc_flash_engine_busy(&node->flash);
        struct posted *posted = &simulation->posted[i];
        kvc_slice_mover_post_busy(&posted->in, &posted->in_ns, node->in_busy_ns,
                                  config->pcie->h2d_bytes_per_s * 1e-9);
        kvc_slice_mover_post_busy(&posted->out, &posted->out_ns, node->out_busy_ns,
                                  config->pcie->d2h_bytes_per_s * 1e-9);
        kvc_slice_mover_post_busy(&posted->dram, &posted->dram_ns, node->dram_busy_ns / config->dram_channels,
                                  1);
        kvc_slice_mover_post_busy(&posted->flash, &posted->flash_ns, kvc_flash_shared_ns(&flash), 1);
    }
    for (uint32_t i = 0; i < simulation->edges; i++) {
        struct edge *edge = &simulation->edge[i];
        kvc_slice_mover_post_busy(&edge->mover, &edge->busy_ns,
                                  simulation->cluster.edge_busy_ns[edge->number],
                                  config->edge_bytes_per_s * 1e-9);
    }
    if (config->database != NULL) {
        kvc_slice_mover_post_busy(&simulation->database, &simulation->database_ns,
                                  kvc_database_engine_busy_ns(&simulation->cluster.database), 1);
    }
}

/* ---- setup ---- */

static void open_movers(struct simulation *simulation)
{
    const struct kvc_bluecache_config *config = simulation->cluster.config;
    uint32_t nodes = config->nodes;
    simulation->posted = kvc_array_of(nodes, sizeof(*simulation->posted));
    simulation->edge = kvc_array_of((size_t)nodes * nodes, sizeof(*simulation->edge));
    for (uint32_t i = 0; i < nodes; i++) {
        const struct kvc_bluecache_machine *machine = &simulation->machines[i];
        kvc_slice_mover_open_transfer(&simulation->posted[i].in, machine->host, machine->card);
        kvc_slice_mover_open_transfer(&simulation->posted[i].out, machine->card, machine->host);
        kvc_slice_mover_open_work(&simulation->posted[i].dram, machine->dram);
        kvc_slice_mover_open_work(&simulation->posted[i].flash, machine->flash);
    }
    for (uint32_t i = 0; i < nodes * nodes; i++) {
        if (kvc_fabric_adjacent(config->fabric, nodes, i / nodes, i % nodes)) {
            struct edge *edge = &simulation->edge[simulation->edges++];
            edge->number = i;
            kvc_slice_mover_open_transfer(&edge->mover, simulation->machines[i / nodes].card,
                                          simulation->machines[i % nodes].card);
        }
    }
    if (config->database != NULL) {
        kvc_slice_mover_open_work(&simulation->database, simulation->machines[0].database);
    }
}

static void count(void *data, bool begins)
{
    struct simulation *simulation = data;
    struct counters *counters = begins ? &simulation->first : &simulation->last;
    const struct kvc_bluecache_cluster *cluster = &simulation->cluster;
    *counters = (struct counters){.served = cluster->served,
                                  .gets = cluster->gets,
                                  .dram_hits = cluster->dram_hits,
                                  .flash_hits = cluster->flash_hits,
                                  .flash_reads = cluster->flash_reads,
                                  .remote = cluster->remote,
                                  .set_bytes = cluster->set_bytes,
                                  .segments = cluster->segments,
                                  .flushes = cluster->flushes,
                                  .bursts = cluster->bursts,
                                  .queries = cluster->database.reads,
                                  .updates = cluster->database.writes};
    for (uint32_t i = 0; i < simulation->shards->shards; i++) {
        struct kvc_bluecache_store_stats stats;
        kvc_bluecache_store_stats(simulation->shards->shard[i].store, &stats);
        counters->store.false_matches += stats.false_matches;
        counters->store.evicted_keys += stats.evicted_keys;
        counters->store.index_evicted += stats.index_evicted;
        counters->store.keys_reclaimed += stats.keys_reclaimed;
        counters->asked += cluster->node[i].writer.programs;
        counters->programs += cluster->node[i].flash.programs;
        counters->erases += cluster->node[i].flash.erases;
        struct kvc_flash_written written = kvc_flash_engine_written(&cluster->node[i].flash);
        counters->written.host += written.host;
        counters->written.programmed += written.programmed;
    }
}

/* Returns the length of a slice and of a window, for which the closed form tells how many requests there will
 * be. Runs that are compared have the same windows. */
static double slice_ns_of(const struct kvc_scenario *scenario)
{
    struct kvc_result *predicted = kvc_array_of(1, sizeof(*predicted));
    kvc_bluecache_predict(scenario, predicted, NULL); /* It cannot fail. */
    double ns = slice_requests / (predicted->throughput_mops * 1e-3);
    free(predicted);
    double most_ns = fmin(slice_most_ns, scenario->run.duration_ns / slices_least);
    return fmax(fmin(ns, most_ns), slice_least_ns);
}

static enum kvc_status open_replica(struct simulation *simulation, const struct kvc_run_context *context,
                                    struct kvc_diag *diag)
{
    struct kvc_replica_options options = {
        .platform = simulation->platform,
        .source = kvc_scenario_source(context->scenario, 1, context->seed),
        .window_ns = slice_ns_of(context->usual != NULL ? context->usual : context->scenario)};
    options.source.nodes = kvc_bluecache_config_of(context->scenario)->stores;
    enum kvc_status status = kvc_replica_open(&simulation->replica, context, &options, diag);
    simulation->replica.monitor.count = count;
    simulation->replica.monitor.data = simulation;
    return status;
}

static void open_cluster(struct simulation *simulation)
{
    struct kvc_replica *replica = &simulation->replica;
    kvc_bluecache_cluster_open(&simulation->cluster, simulation->scenario, simulation->shards,
                               replica->source, replica->context->seed);
    open_movers(simulation);
    simulation->slices = (struct kvc_slices){.replica = replica,
                                             .slice_ns = replica->recorder.window_ns,
                                             .stages = STAGES,
                                             .completes = true,
                                             .hit = KVC_BLUECACHE_HIT,
                                             .miss = KVC_BLUECACHE_MISSED};
    simulation->server = (struct kvc_slice_server){.slices = &simulation->slices,
                                                   .answers = &simulation->cluster.answers,
                                                   .advance = advance,
                                                   .share = share,
                                                   .busy = set_busy,
                                                   .data = simulation};
    kvc_timeline_row(replica->context->timeline, 0, 0, "cluster", "requests");
    kvc_engine_spawn("cluster", kvc_slice_server_main, &simulation->server);
}

/* ---- report ---- */

static void report_stages(const struct simulation *simulation, struct kvc_result *result)
{
    const struct kvc_bluecache_config *config = simulation->cluster.config;
    const struct {
        const char *name, *device;
        double servers;
        bool used;
    } stages[STAGES] = {
        [CALL] = {"call", "cpu", config->apps, config->threads},
        [IN] = {"in", "pcie", config->apps, true},
        [FABRIC] = {"fabric", "fabric", 1, config->nodes > 1},
        [DRAM] = {"search", "dram", config->stores, true},
        [CONTROLLER] = {"controller", "flash", config->stores, config->flash->operation_ns > 0},
        [CHANNELS] = {"channels", "flash", config->stores, true},
        [CHIPS] = {"chips", "flash", config->stores, true},
        [INTERFACE] = {"interface", "flash", config->stores, config->flash->interface_bytes_per_s > 0},
        [OUT] = {"out", "pcie", config->apps, true},
        [WAKE] = {"wake", "cpu", config->apps, config->threads},
        [DATABASE] = {"database", "database", 1, config->database != NULL}};
    for (uint32_t i = 0; i < STAGES; i++) {
        if (stages[i].used) {
            kvc_slices_report_stage(&simulation->slices, i, stages[i].name, stages[i].device,
                                    stages[i].servers, result);
        }
    }
}

static void report_metrics(const struct simulation *simulation, struct kvc_result *result)
{
    const struct counters *first = &simulation->first, *last = &simulation->last;
    const struct kvc_bluecache_store_stats *from = &first->store, *to = &last->store;
    struct kvc_metrics *kernel = &result->kernel, *model = &result->model;
    double served = (double)(last->served - first->served), gets = (double)(last->gets - first->gets);
    double entries = simulation->cluster.config->sizes.index_bytes / 16 * simulation->shards->shards;
    double rate = (double)simulation->cluster.config->sample_rate; /* One of `rate` is counted. */
    double used = 0;
    for (uint32_t i = 0; i < simulation->shards->shards; i++) {
        used += (double)kvc_bluecache_store_used(simulation->shards->shard[i].store);
    }
    kvc_metrics_set(kernel, "load_factor_frac", used / entries);
    kvc_metrics_set_ratio(kernel, "dram_hit_frac", (double)(last->dram_hits - first->dram_hits), gets);
    kvc_metrics_set_ratio(kernel, "flash_hit_frac", (double)(last->flash_hits - first->flash_hits), gets);
    kvc_metrics_set(kernel, "false_matches", (double)(to->false_matches - from->false_matches) * rate);
    kvc_metrics_set(kernel, "evicted_keys", (double)(to->evicted_keys - from->evicted_keys) * rate);
    kvc_metrics_set(kernel, "index_evicted", (double)(to->index_evicted - from->index_evicted) * rate);
    kvc_metrics_set(kernel, "keys_reclaimed", (double)(to->keys_reclaimed - from->keys_reclaimed) * rate);
    kvc_metrics_set_ratio(model, "flash_reads_per_request", (double)(last->flash_reads - first->flash_reads),
                          served);
    kvc_metrics_set_ratio(model, "remote_frac", (double)(last->remote - first->remote), served);
    kvc_metrics_set_ratio(model, "requests_per_segment", served, (double)(last->segments - first->segments));
    kvc_metrics_set_ratio(model, "responses_per_interrupt", served, (double)(last->bursts - first->bursts));
    kvc_metrics_set(model, "flushes", (double)(last->flushes - first->flushes));
    kvc_metrics_set(model, "programs", (double)(last->programs - first->programs));
    kvc_metrics_set(model, "erases", (double)(last->erases - first->erases));
    if (kvc_flash_translates(simulation->cluster.config->flash)) {
        kvc_metrics_set_ratio(model, "drive_amplification_ratio",
                              last->written.programmed - first->written.programmed,
                              last->written.host - first->written.host);
    }
    if (simulation->cluster.config->database != NULL) {
        kvc_metrics_set(model, "database_queries", (double)(last->queries - first->queries));
        kvc_metrics_set(model, "database_updates", (double)(last->updates - first->updates));
    }
    const struct kvc_bluecache_writes writes = {
        .set_bytes = (double)(last->set_bytes - first->set_bytes),
        .pages = (double)(last->asked - first->asked),
        .time_ns = simulation->replica.recorder.duration_ns,
    };
    kvc_bluecache_add_wear(simulation->scenario, &writes, result);
}

static void report(struct simulation *simulation, struct kvc_result *result)
{
    const uint64_t *outcome = simulation->slices.outcome;
    result->completed = simulation->slices.completed;
    result->hits = outcome[KVC_BLUECACHE_HIT];
    result->misses = outcome[KVC_BLUECACHE_MISSED];
    result->gets = result->hits + result->misses;
    result->sets = outcome[KVC_BLUECACHE_SET_DONE];
    result->deletes = outcome[KVC_BLUECACHE_DELETE_DONE];
    kvc_recorder_report(&simulation->replica.recorder, result);
    report_stages(simulation, result);
    report_metrics(simulation, result);
    kvc_bluecache_add_capacity(simulation->scenario, result);
    kvc_bottleneck_find(result);
    result->requests_simulated = simulation->replica.recorder.offered_in_all;
    result->preload_wall_s = simulation->shards->preload_wall_s;
}

static void close_simulation(struct simulation *simulation)
{
    for (uint32_t i = 0; simulation->posted != NULL && i < simulation->cluster.config->nodes; i++) {
        kvc_slice_mover_close(&simulation->posted[i].in);
        kvc_slice_mover_close(&simulation->posted[i].out);
        kvc_slice_mover_close(&simulation->posted[i].dram);
        kvc_slice_mover_close(&simulation->posted[i].flash);
    }
    for (uint32_t i = 0; i < simulation->edges; i++) {
        kvc_slice_mover_close(&simulation->edge[i].mover);
    }
    kvc_slice_mover_close(&simulation->database);
    kvc_bluecache_cluster_close(&simulation->cluster);
    free(simulation->posted);
    free(simulation->edge);
    free(simulation->machines);
    kvc_replica_close(&simulation->replica);
    kvc_platform_free(simulation->platform);
    free(simulation);
}

enum kvc_status kvc_bluecache_run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    struct simulation *simulation = calloc(1, sizeof(*simulation));
    if (simulation == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a simulation");
    }
    simulation->scenario = context->scenario;
    simulation->shards = context->state;
    simulation->platform = kvc_platform_create();
    simulation->machines =
        kvc_array_of(kvc_bluecache_config_of(context->scenario)->nodes, sizeof(*simulation->machines));
    kvc_bluecache_machine_add(context->scenario, simulation->platform, simulation->machines);
    enum kvc_status status = open_replica(simulation, context, diag);
    if (status == KVC_OK) {
        open_cluster(simulation);
        status = kvc_replica_run(&simulation->replica, true, diag);
    }
    if (status == KVC_OK) {
        simulation->replica.kernel_ticks = simulation->cluster.kernel_ticks;
        simulation->replica.source_ticks = simulation->cluster.source_ticks;
        report(simulation, context->result);
        kvc_replica_report(&simulation->replica);
    }
    close_simulation(simulation);
    return status;
}

double kvc_bluecache_memory_bytes(const struct kvc_scenario *scenario)
{
    return kvc_bluecache_store_memory_bytes(scenario) +
           kvc_replica_memory_bytes(scenario, slice_ns_of(scenario),
                                    kvc_bluecache_config_of(scenario)->stores);
}
