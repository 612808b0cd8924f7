#include "models/bluecache/bluecache.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/bluecache/cluster.h"
#include "models/bluecache/config.h"
#include "models/bluecache/predict.h"
#include "models/bluecache/resources.h"
#include "models/bluecache/room.h"
#include "models/bluecache/store.h"
#include "models/simulate.h"
#include "sim/base/array.h"
#include "sim/run/replica_memory.h"
#include "sim/run/slices/slice_mover.h"
#include "sim/run/slices/slices.h"

/* ---- machine ---- */

/* Hosts of one node: the memory of its host, and the card with its DRAM and its flash. PCIe is between the
 * host and the card, and the fabric between the cards of neighbours. */
struct machine {
    uint32_t host, card, dram, flash;
    /* Host of the database that all nodes share, if there is one; set for the first node. */
    uint32_t database;
};

static uint32_t add_host(struct kvc_platform *platform, uint32_t zone, const char *node, const char *device,
                         const struct kvc_watts *watts)
{
    struct kvc_platform_host host = {.device = device, .cores = 1, .pstates = 1, .pstate = {{.speed = 1}}};
    snprintf(host.name, sizeof(host.name), "%s.%s", node, device);
    if (watts != NULL) {
        host.pstate[0].watts = *watts;
    }
    host.is_metered_elsewhere = watts == NULL; /* The application's host is no part of the cache. */
    return kvc_platform_add_host(platform, zone, &host);
}

static void add_way(struct kvc_platform *platform, uint32_t zone, const char *name, const char *device,
                    double bytes_per_s, const uint32_t ends[2])
{
    struct kvc_platform_link link = {.device = device, .bytes_per_s = bytes_per_s};
    snprintf(link.name, sizeof(link.name), "%s", name);
    uint32_t added = kvc_platform_add_link(platform, zone, &link);
    kvc_platform_add_route(platform, ends[0], ends[1], &added, 1);
}

static struct machine add_node(const struct kvc_bluecache_config *config, struct kvc_platform *platform,
                               uint32_t zone, const char *node)
{
    double card_w = config->fpga->power_w; /* With its DRAM. */
    const struct kvc_watts card = {card_w, card_w, card_w};
    const struct kvc_watts flash = kvc_flash_watts(config->flash);
    struct machine machine = {
        .host = add_host(platform, zone, node, "host", NULL),
        .card = add_host(platform, zone, node, "fpga", &card),
        .dram = add_host(platform, zone, node, "dram", NULL),
        .flash = add_host(platform, zone, node, "flash", &flash),
    };
    char name[KVC_PLATFORM_NAME_MAX];
    snprintf(name, sizeof(name), "%s.pcie-in", node);
    add_way(platform, zone, name, "pcie", config->pcie->h2d_bytes_per_s,
            (uint32_t[]){machine.host, machine.card});
    snprintf(name, sizeof(name), "%s.pcie-out", node);
    add_way(platform, zone, name, "pcie", config->pcie->d2h_bytes_per_s,
            (uint32_t[]){machine.card, machine.host});
    return machine;
}

/* Adds the machines of a resolved scenario; `machine` has an entry for each node. */
static void add_machines(const struct kvc_scenario *scenario, struct kvc_platform *platform,
                         struct machine *machine)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    uint32_t nodes = config->nodes, zone = kvc_platform_add_zone(platform, "bluecache");
    for (uint32_t i = 0; i < nodes; i++) {
        char name[KVC_PLATFORM_NAME_MAX / 2];
        snprintf(name, sizeof(name), "node%u", i);
        machine[i] = add_node(config, platform, zone, name);
    }
    if (config->database != NULL) {
        machine[0].database = add_host(platform, zone, "all", "database", NULL);
    }
    for (uint32_t a = 0; a < nodes; a++) {
        for (uint32_t b = 0; b < nodes; b++) {
            if (kvc_fabric_adjacent(config->fabric, nodes, a, b)) {
                char name[KVC_PLATFORM_NAME_MAX];
                snprintf(name, sizeof(name), "node%u.fabric%u", a, b);
                add_way(platform, zone, name, "fabric", config->edge_bytes_per_s,
                        (uint32_t[]){machine[a].card, machine[b].card});
            }
        }
    }
}

/* ---- simulation ---- */

/* Nothing within a slice depends on the engine. With few requests a second, a slice is longer, so that it has
 * some: the engine takes microseconds for each. */
static const double slice_least_ns = 50000, slice_most_ns = 1e6, slice_requests = 64, slices_least = 200;

/* Use of its devices that a node has posted so far. */
struct posted {
    struct kvc_slice_mover in, out, dram, flash;
    double in_ns, out_ns, dram_ns, flash_ns;
};

/* Use of the links between two neighbours that was posted so far. */
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
    struct kvc_replica replica;
    const struct kvc_scenario *scenario;
    const struct kvc_scenario *usual; /* The scenario whose windows the run uses. */
    struct kvc_bluecache_shards *shards;
    struct kvc_bluecache_cluster cluster;
    struct posted *posted;
    struct edge *edge;
    uint32_t edges;
    struct kvc_slice_mover database;
    double database_ns; /* Busy time of the database already posted [ns]. */
    struct kvc_slices slices;
    struct kvc_slice_server server;
    struct machine *machines;
    struct counters first, last; /* Counters at the start and at the end of the measured time. */
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
    for (uint32_t i = 0; i < KVC_BLUECACHE_STAGES; i++) {
        busy_ns[i] = 0;
    }
    for (uint32_t i = 0; i < config->nodes; i++) {
        const struct kvc_bluecache_node *node = &cluster->node[i];
        const struct kvc_flash_busy flash = kvc_flash_engine_busy(&node->flash);
        busy_ns[KVC_BLUECACHE_AT_CALL] += node->host.call_busy_ns;
        busy_ns[KVC_BLUECACHE_AT_IN] += node->in_busy_ns;
        busy_ns[KVC_BLUECACHE_AT_SEARCH] += node->dram_busy_ns / config->dram_channels;
        busy_ns[KVC_BLUECACHE_AT_CONTROLLER] += flash.controller_ns;
        busy_ns[KVC_BLUECACHE_AT_CHANNELS] += flash.channels_ns;
        busy_ns[KVC_BLUECACHE_AT_CHIPS] += flash.chips_ns;
        busy_ns[KVC_BLUECACHE_AT_INTERFACE] += flash.interface_ns;
        busy_ns[KVC_BLUECACHE_AT_OUT] += node->out_busy_ns;
        busy_ns[KVC_BLUECACHE_AT_WAKE] += node->host.thread_busy_ns;
    }
    busy_ns[KVC_BLUECACHE_AT_DATABASE] = kvc_database_engine_busy_ns(&cluster->database);
    for (uint32_t i = 0; i < simulation->edges; i++) { /* The busiest link. */
        busy_ns[KVC_BLUECACHE_AT_FABRIC] =
            fmax(busy_ns[KVC_BLUECACHE_AT_FABRIC], cluster->edge_busy_ns[simulation->edge[i].number]);
    }
}

/* Posts the cluster's use of its machines since the last call. The machines have no other user. */
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
        const struct machine *machine = &simulation->machines[i];
        kvc_slice_mover_own_link(&simulation->posted[i].in, machine->host, machine->card);
        kvc_slice_mover_own_link(&simulation->posted[i].out, machine->card, machine->host);
        kvc_slice_mover_own_host(&simulation->posted[i].dram, machine->dram);
        kvc_slice_mover_own_host(&simulation->posted[i].flash, machine->flash);
    }
    for (uint32_t i = 0; i < nodes * nodes; i++) {
        if (kvc_fabric_adjacent(config->fabric, nodes, i / nodes, i % nodes)) {
            struct edge *edge = &simulation->edge[simulation->edges++];
            edge->number = i;
            kvc_slice_mover_own_link(&edge->mover, simulation->machines[i / nodes].card,
                                     simulation->machines[i % nodes].card);
        }
    }
    if (config->database != NULL) {
        kvc_slice_mover_own_host(&simulation->database, simulation->machines[0].database);
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

/* What the closed form says about a run. */
struct outlook {
    double mops;
    double set_frac; /* Share of the requests that store a pair, with those that fill a miss. */
    double slice_ns; /* Length of a slice and of a window. */
};

static struct outlook outlook_of(const struct kvc_scenario *scenario)
{
    const struct kvc_workload *workload = &scenario->workload;
    bool fills = kvc_bluecache_config_of(scenario)->database != NULL;
    struct kvc_result *predicted = kvc_array_of(1, sizeof(*predicted));
    kvc_bluecache_predict(scenario, predicted, NULL); /* It cannot fail. */
    double missed_frac = 1 - kvc_metrics_get(&predicted->model, "hit_frac");
    /* With a database, an update deletes pairs, and a GET that misses writes one. */
    struct outlook outlook = {.mops = predicted->throughput_mops,
                              .set_frac = fills ? workload->get_frac * missed_frac : workload->set_frac};
    free(predicted);
    double most_ns = fmin(slice_most_ns, scenario->run.duration_ns / slices_least);
    outlook.slice_ns = fmax(fmin(slice_requests / (outlook.mops * 1e-3), most_ns), slice_least_ns);
    return outlook;
}

static void open_machines(void *state, const struct kvc_run_context *context, struct kvc_platform *platform)
{
    struct simulation *simulation = state;
    simulation->scenario = context->scenario;
    simulation->usual = context->usual != NULL ? context->usual : context->scenario;
    simulation->shards = context->state;
    simulation->machines =
        kvc_array_of(kvc_bluecache_config_of(context->scenario)->nodes, sizeof(*simulation->machines));
    add_machines(context->scenario, platform, simulation->machines);
}

static void set_source(void *state, struct kvc_replica_options *options)
{
    const struct simulation *simulation = state;
    options->source.nodes = kvc_bluecache_config_of(simulation->scenario)->stores;
    options->window_ns =
        outlook_of(simulation->usual).slice_ns; /* Runs that are compared have the same windows. */
}

static void open_cluster(void *state)
{
    struct simulation *simulation = state;
    struct kvc_replica *replica = &simulation->replica;
    kvc_bluecache_cluster_open(&simulation->cluster, simulation->scenario, simulation->shards,
                               replica->source, replica->context->seed);
    open_movers(simulation);
    simulation->slices = (struct kvc_slices){.replica = replica,
                                             .slice_ns = replica->recorder.window_ns,
                                             .looks = true,
                                             .stages = KVC_BLUECACHE_STAGES,
                                             .completes = true};
    simulation->server = (struct kvc_slice_server){.slices = &simulation->slices,
                                                   .answers = &simulation->cluster.answers,
                                                   .advance = advance,
                                                   .share = share,
                                                   .busy = set_busy,
                                                   .data = simulation};
    kvc_simulate_slices(&simulation->server, "cluster", "requests");
}

/* ---- report ---- */

static void set_totals(const void *state, struct kvc_result *result)
{
    const struct simulation *simulation = state;
    kvc_slices_totals(&simulation->slices, result);
    result->preload_wall_s = simulation->shards->preload_wall_s;
}

static void report_metrics(const struct simulation *simulation, struct kvc_result *result)
{
    const struct counters *first = &simulation->first, *last = &simulation->last;
    const struct kvc_bluecache_store_stats *from = &first->store, *to = &last->store;
    struct kvc_metrics *kernel = &result->kernel, *model = &result->model;
    double served = (double)(last->served - first->served), gets = (double)(last->gets - first->gets);
    double entries = simulation->cluster.config->sizes.index_bytes / 16 * simulation->shards->shards;
    double rate = (double)simulation->cluster.config->sample_rate; /* Only one in `rate` is counted. */
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

static void report(void *state, struct kvc_result *result)
{
    struct simulation *simulation = state;
    simulation->replica.kernel_ticks = simulation->cluster.kernel_ticks;
    simulation->replica.source_ticks = simulation->cluster.source_ticks;
    report_metrics(simulation, result);
    kvc_bluecache_add_capacity(simulation->scenario, result);
}

static void close_simulation(void *state)
{
    struct simulation *simulation = state;
    kvc_bluecache_cluster_close(&simulation->cluster);
    free(simulation->posted);
    free(simulation->edge);
    free(simulation->machines);
}

static bool drained(const void *state)
{
    const struct simulation *simulation = state;
    return simulation->cluster.free_count == simulation->cluster.requests;
}

static const char *const parts[] = {"host to card", "DRAM of the card", "flash", "card to host", NULL};

static const struct kvc_simulator simulator = {
    .state_bytes = sizeof(struct simulation),
    .machine = open_machines,
    .source = set_source,
    .open = open_cluster,
    .looks = true,
    .count = count,
    .drained = drained,
    .parts = parts,
    .totals = set_totals,
    .stages = kvc_bluecache_stages,
    .sliced = true,
    .report = report,
    .close = close_simulation,
};

static enum kvc_status run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    return kvc_simulate_replica(&simulator, context, diag);
}

/* ---- registry ---- */

static double memory_bytes(const struct kvc_scenario *scenario)
{
    const struct outlook outlook = outlook_of(scenario);
    double requests = kvc_replica_requests(scenario, outlook.slice_ns, outlook.mops);
    return kvc_bluecache_store_memory_bytes(scenario, outlook.set_frac * requests) +
           kvc_replica_memory_bytes(scenario, outlook.slice_ns, kvc_bluecache_config_of(scenario)->stores);
}

static uint32_t sizes(const struct kvc_scenario *scenario, double *size)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    const struct kvc_flash_geometry *geometry = &config->sizes.geometry;
    uint32_t count = 0;
    size[count++] = config->stores;
    size[count++] = (double)config->sample_rate;
    size[count++] = config->sizes.index_bytes;
    size[count++] = config->sizes.dram_bytes;
    size[count++] = config->sizes.slab_bytes;
    size[count++] = config->sizes.chunk_pages;
    size[count++] = geometry->buses;
    size[count++] = geometry->chips_per_bus;
    size[count++] = geometry->blocks_per_chip;
    size[count++] = geometry->pages_per_block;
    size[count++] = geometry->page_bytes;
    return count;
}

static const struct kvc_model_device devices[] = {
    {&kvc_pcie_kind, "pcie1-x8-vc707"},
    {&kvc_fpga_kind, "virtex7-vc707"},
    {&kvc_dram_kind, "ddr3-1600-vc707"},
    {&kvc_flash_kind, "bluecache-flash"},
    {&kvc_fabric_kind, "aurora-4x10g"},
    {&kvc_database_kind, "mysql-bg"},
    {NULL, NULL},
};

const struct kvc_model kvc_bluecache_model = {
    .name = "bluecache",
    .help =
        "cards with an FPGA, DRAM and flash: an index in DRAM, a log on flash, and links between the cards",
    .paper = "Xu et al., PVLDB 10(4), 2016",
    .options = &kvc_bluecache_option_table,
    .devices = devices,
    .has_links_between_nodes = true,
    .takes_tenants = true,
    .config_bytes = sizeof(struct kvc_bluecache_config),
    .resolve = kvc_bluecache_resolve,
    .check = kvc_bluecache_check,
    .rooms = kvc_bluecache_rooms,
    .memory_bytes = memory_bytes,
    .stages = kvc_bluecache_stages,
    .resources = kvc_bluecache_resources,
    .predict = kvc_bluecache_predict,
    .prepare = kvc_bluecache_shards_create,
    .sizes = sizes,
    .run = run,
};
