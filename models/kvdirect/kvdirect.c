/* KV-Direct's entry in the registry, and its simulation with the NICs of all nodes. The design is from Li et
 * al., "KV-Direct: High-Performance In-Memory Key-Value Store with Programmable NIC", SOSP 2017. */
#include "models/kvdirect/kvdirect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/kvdirect/config.h"
#include "models/kvdirect/machine.h"
#include "models/kvdirect/predict.h"
#include "models/kvdirect/resources.h"
#include "models/kvdirect/share.h"
#include "models/kvdirect/store.h"
#include "models/simulate.h"
#include "sim/base/array.h"
#include "sim/devices/cpu.h"
#include "sim/devices/dram.h"
#include "sim/devices/pcie.h"
#include "sim/devices/fpga.h"
#include "sim/devices/nic.h"
#include "sim/run/replica_memory.h"
#include "sim/run/slices/slices.h"

enum { RATIOS_MAX = 16 /* Quotients of counters. */ };

static const double window_ns = 50000;

/* Sums over all NICs and the run so far. */
struct sums {
    struct kvc_kvdirect_counts counts;
    struct kvc_kvdirect_table_stats table;
    uint64_t reads, writes, dram_lines;
    uint32_t most_reads, most_writes, most_in_flight;
};

struct simulation {
    struct kvc_replica replica;
    const struct kvc_scenario *scenario;
    const struct kvc_kvdirect_config *config;
    struct kvc_kvdirect_store *store;
    struct kvc_kvdirect_processor *processors; /* One per NIC. */
    struct kvc_slice_server *servers;          /* The NICs as actors of the engine. */
    struct kvc_slices slices;
    struct kvc_kvdirect_machine machine;
    struct kvc_kvdirect_share *shares; /* The NICs as users of the machine. */
    struct sums first, last;           /* Sums at the start and at the end of the measured time. */
};

/* ---- simulation ---- */

/* Returns the busy time of the busiest link: of its tags, its credits, its DMA engine or one direction,
 * whichever is the longest. */
static double pcie_busy_ns(const struct kvc_kvdirect_memory_engine *memory)
{
    double most_ns = 0;
    for (uint32_t i = 0; i < memory->pcie->endpoints; i++) {
        const struct kvc_pcie_engine *engine = &memory->engine[i];
        double reads_ns = engine->reads.held_ns / engine->reads.limit;
        double writes_ns = engine->writes.held_ns / engine->writes.limit;
        double link_ns = fmax(fmax(engine->up_busy_ns, engine->down_busy_ns), engine->dma_busy_ns);
        most_ns = fmax(most_ns, fmax(link_ns, fmax(reads_ns, writes_ns)));
    }
    return most_ns;
}

static void set_busy(const void *data, double *busy_ns)
{
    const struct kvc_kvdirect_share *nic = data;
    const struct kvc_kvdirect_processor *processor = nic->processor;
    const struct kvc_kvdirect_counts *counts = &processor->counts;
    const struct kvc_kvdirect_memory_engine *memory = &processor->memory;
    busy_ns[KVC_KVDIRECT_AT_RECEIVE] = counts->receive_busy_ns;
    busy_ns[KVC_KVDIRECT_AT_DECODE] = counts->decode_busy_ns;
    busy_ns[KVC_KVDIRECT_AT_ACCESS] = fmax(counts->access_busy_ns[0], counts->access_busy_ns[1]);
    busy_ns[KVC_KVDIRECT_AT_PCIE] = pcie_busy_ns(memory);
    /* Memory serves all NICs of a node, and each of them counts as a server. */
    busy_ns[KVC_KVDIRECT_AT_MEMORY] =
        nic->memory.moved * nic->nics / (kvc_dram_channels(nic->dram) * nic->memories);
    busy_ns[KVC_KVDIRECT_AT_GATHER] = memory->gather.busy_ns / fmax(memory->gather.cores, 1);
    busy_ns[KVC_KVDIRECT_AT_DRAM] = memory->dram_busy_ns;
    busy_ns[KVC_KVDIRECT_AT_LAMBDA] = counts->lambda_busy_ns;
    busy_ns[KVC_KVDIRECT_AT_DAEMON] = counts->daemon_busy_ns;
    busy_ns[KVC_KVDIRECT_AT_SEND] = counts->send_busy_ns;
}

static uint64_t advance(void *data, double until_ns)
{
    struct kvc_kvdirect_share *nic = data;
    struct kvc_kvdirect_processor *processor = nic->processor;
    uint64_t decoded = processor->counts.decoded;
    kvc_kvdirect_share_advance(nic, until_ns);
    return processor->counts.decoded - decoded;
}

static void share(void *data)
{
    kvc_kvdirect_share_post(data);
}

/* ---- counters ---- */

static struct sums sum_up(const struct simulation *simulation)
{
    struct sums sums = {0};
    for (uint32_t i = 0; i < simulation->store->shard_count; i++) {
        const struct kvc_kvdirect_processor *processor = &simulation->processors[i];
        const struct kvc_kvdirect_counts *counts = &processor->counts;
        const struct kvc_kvdirect_shard *shard = processor->shard;
        sums.counts.decoded += counts->decoded;
        sums.counts.collided += counts->collided;
        sums.counts.forwarded += counts->forwarded;
        sums.counts.writebacks += counts->writebacks;
        sums.counts.failed += counts->failed;
        for (int op = 0; op < KVC_OP_COUNT; op++) {
            sums.counts.accesses[op] += counts->accesses[op];
            sums.counts.operations[op] += counts->operations[op];
        }
        for (int kind = 0; kind < KVC_KVDIRECT_STEP_KINDS; kind++) {
            sums.counts.steps[kind] += counts->steps[kind];
        }
        sums.table.slab.allocated += shard->stats.slab.allocated;
        sums.table.slab.released += shard->stats.slab.released;
        sums.table.slab.dma_reads += shard->stats.slab.dma_reads;
        sums.table.slab.dma_writes += shard->stats.slab.dma_writes;
        sums.reads += processor->memory.host_reads;
        sums.writes += processor->memory.host_writes;
        sums.dram_lines += processor->memory.dram_lines;
        sums.most_in_flight =
            processor->most_in_flight > sums.most_in_flight ? processor->most_in_flight : sums.most_in_flight;
        for (uint32_t e = 0; e < processor->memory.pcie->endpoints; e++) {
            const struct kvc_pcie_engine *engine = &processor->memory.engine[e];
            sums.most_reads = engine->reads.most > sums.most_reads ? engine->reads.most : sums.most_reads;
            sums.most_writes =
                engine->writes.most > sums.most_writes ? engine->writes.most : sums.most_writes;
        }
    }
    return sums;
}

/* Returns the counts between two moments. Maxima cover the whole run. */
static struct sums difference(const struct sums *last, const struct sums *first)
{
    struct sums sums = *last;
    sums.counts.decoded -= first->counts.decoded;
    sums.counts.collided -= first->counts.collided;
    sums.counts.forwarded -= first->counts.forwarded;
    sums.counts.writebacks -= first->counts.writebacks;
    sums.counts.failed -= first->counts.failed;
    for (int op = 0; op < KVC_OP_COUNT; op++) {
        sums.counts.accesses[op] -= first->counts.accesses[op];
        sums.counts.operations[op] -= first->counts.operations[op];
    }
    for (int kind = 0; kind < KVC_KVDIRECT_STEP_KINDS; kind++) {
        sums.counts.steps[kind] -= first->counts.steps[kind];
    }
    sums.table.slab.allocated -= first->table.slab.allocated;
    sums.table.slab.released -= first->table.slab.released;
    sums.table.slab.dma_reads -= first->table.slab.dma_reads;
    sums.table.slab.dma_writes -= first->table.slab.dma_writes;
    sums.reads -= first->reads;
    sums.writes -= first->writes;
    sums.dram_lines -= first->dram_lines;
    return sums;
}

/* Lists the metrics that are quotients of counters. Returns their number. */
static uint32_t ratios_of(const struct sums *sums, struct kvc_ratio ratio[RATIOS_MAX])
{
    const struct kvc_kvdirect_counts *counts = &sums->counts;
    const struct kvc_kvdirect_slab_stats *slab = &sums->table.slab;
    /* Reads only: a write follows the read of its line. */
    double hits = (double)counts->steps[KVC_KVDIRECT_CACHE_READ],
           misses = (double)counts->steps[KVC_KVDIRECT_CACHE_FETCH],
           joined = (double)counts->steps[KVC_KVDIRECT_CACHE_JOIN], looked = hits + misses + joined,
           decoded = (double)counts->decoded;
    const struct kvc_ratio all[] = {
        {"kernel", NULL, "accesses_per_get", (double)counts->accesses[KVC_OP_GET],
         (double)counts->operations[KVC_OP_GET], KVC_RATIO_OF_COUNTS},
        {"kernel", NULL, "accesses_per_set", (double)counts->accesses[KVC_OP_SET],
         (double)counts->operations[KVC_OP_SET], KVC_RATIO_OF_COUNTS},
        {"kernel", NULL, "accesses_per_delete", (double)counts->accesses[KVC_OP_DELETE],
         (double)counts->operations[KVC_OP_DELETE], KVC_RATIO_OF_COUNTS},
        {"kernel", NULL, "slab_dma_per_slab", (double)(slab->dma_reads + slab->dma_writes),
         (double)(slab->allocated + slab->released), KVC_RATIO_OF_COUNTS},
        {"kernel", NULL, "cache_hit_frac", hits, looked, KVC_RATIO_OF_COUNTS},
        {"kernel", NULL, "cache_joined_frac", joined, looked, KVC_RATIO_OF_COUNTS},
        {"kernel", NULL, "served_by_dram_frac", hits, looked + (double)counts->steps[KVC_KVDIRECT_HOST_READ],
         KVC_RATIO_OF_COUNTS},
        {"model", NULL, "collided_frac", (double)counts->collided, decoded, KVC_RATIO_OF_COUNTS},
        {"model", NULL, "merged_frac", (double)counts->forwarded, decoded, KVC_RATIO_OF_COUNTS},
        {"model", NULL, "writebacks_per_op", (double)counts->writebacks, decoded, KVC_RATIO_OF_COUNTS},
        {"model", NULL, "dma_reads_per_op", (double)sums->reads, decoded, KVC_RATIO_OF_COUNTS},
        {"model", NULL, "dma_writes_per_op", (double)sums->writes, decoded, KVC_RATIO_OF_COUNTS},
        {"model", NULL, "dram_lines_per_op", (double)sums->dram_lines, decoded, KVC_RATIO_OF_COUNTS},
    };
    memcpy(ratio, all, sizeof(all));
    return sizeof(all) / sizeof(*all);
}

static void count(void *data, bool begins)
{
    struct simulation *simulation = data;
    struct sums *sums = begins ? &simulation->first : &simulation->last;
    struct kvc_ratio ratio[RATIOS_MAX];
    *sums = sum_up(simulation);
    const struct kvc_ratio failed = {
        "kernel", NULL, "failed", (double)sums->counts.failed, kvc_engine_now_ns(), KVC_RATIO_OF_TIME};
    kvc_recorder_sample(&simulation->replica.recorder, ratio, ratios_of(sums, ratio));
    kvc_recorder_sample(&simulation->replica.recorder, &failed, 1);
}

/* ---- setup and report ---- */

static void name_host(const struct simulation *simulation, uint32_t number, char *name, size_t size)
{
    uint32_t nics = simulation->config->nics;
    snprintf(name, size, "node%u-nic%u", number / nics, number % nics);
}

/* Closed clients, and those who fill what misses, react to responses with requests. A slice is at most a
 * round trip, so that no such request arrives in a slice that is already simulated. */
static double slice_ns_of(const struct kvc_scenario *scenario)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    return kvc_workload_reacts(&scenario->workload) ? fmin(config->slice_ns, 2 * config->card.nic->latency_ns)
                                                    : config->slice_ns;
}

static void open_machine(void *state, const struct kvc_run_context *context, struct kvc_platform *platform)
{
    struct simulation *simulation = state;
    simulation->scenario = context->scenario;
    simulation->config = kvc_kvdirect_config_of(context->scenario);
    simulation->store = context->state;
    kvc_kvdirect_machine_open(&simulation->machine, context->scenario, platform);
}

static void set_source(void *state, struct kvc_replica_options *options)
{
    const struct simulation *simulation = state;
    options->source = kvc_kvdirect_source_of(simulation->scenario, options->source.seed);
    options->source.frame_requests = simulation->config->mean.packet_requests;
    options->window_ns = window_ns;
}

static void open_nics(void *state)
{
    struct simulation *simulation = state;
    const struct kvc_scenario *scenario = simulation->scenario;
    struct kvc_replica *replica = &simulation->replica;
    uint32_t count = simulation->store->shard_count,
             packet_requests = simulation->config->mean.packet_requests;
    simulation->slices = (struct kvc_slices){
        .replica = replica, .slice_ns = slice_ns_of(scenario), .stages = KVC_KVDIRECT_STAGES};
    simulation->processors = kvc_array_of(count, sizeof(*simulation->processors));
    simulation->servers = kvc_array_of(count, sizeof(*simulation->servers));
    simulation->shares = kvc_array_of(count, sizeof(*simulation->shares));
    for (uint32_t i = 0; i < count; i++) {
        char name[KVC_NAME_MAX];
        struct kvc_kvdirect_processor *processor = &simulation->processors[i];
        kvc_kvdirect_processor_open(processor, scenario, simulation->store, replica->source, i,
                                    packet_requests, replica->context->seed);
        kvc_kvdirect_share_open(&simulation->shares[i], &simulation->machine, scenario, i, processor);
        /* Their slices end one after the other, because slices that end together would compete most. */
        simulation->servers[i] =
            (struct kvc_slice_server){.slices = &simulation->slices,
                                      .number = i,
                                      .ahead_ns = simulation->slices.slice_ns *
                                                  (i % simulation->config->nics) / simulation->config->nics,
                                      .answers = &processor->answers,
                                      .advance = advance,
                                      .share = share,
                                      .busy = set_busy,
                                      .data = &simulation->shares[i]};
        name_host(simulation, i, name, sizeof(name));
        kvc_simulate_slices(&simulation->servers[i], name, "processor");
    }
}

static void close_simulation(void *state)
{
    struct simulation *simulation = state;
    for (uint32_t i = 0; i < simulation->store->shard_count && simulation->processors != NULL; i++) {
        kvc_kvdirect_processor_close(&simulation->processors[i]);
        kvc_kvdirect_share_close(&simulation->shares[i]);
    }
    free(simulation->processors);
    free(simulation->servers);
    free(simulation->shares);
    kvc_kvdirect_machine_close(&simulation->machine);
}

static void report_ratios(const struct sums *sums, const char *group, struct kvc_metrics *metrics)
{
    struct kvc_ratio ratio[RATIOS_MAX];
    for (uint32_t i = 0, count = ratios_of(sums, ratio); i < count; i++) {
        if (strcmp(ratio[i].group, group) == 0) {
            kvc_metrics_set_ratio(metrics, ratio[i].name, ratio[i].part, ratio[i].whole);
        }
    }
}

static void report_kernel(const struct simulation *simulation, const struct sums *sums,
                          struct kvc_result *result)
{
    struct kvc_metrics *kernel = &result->kernel;
    kvc_metrics_set(kernel, "memory_utilization_frac", simulation->store->utilization_frac);
    report_ratios(sums, "kernel", kernel);
    kvc_metrics_set(kernel, "failed", (double)sums->counts.failed);
}

/* Reports the load of the fullest NIC relative to the mean of all NICs, over the whole run. */
static void report_imbalance(const struct simulation *simulation, struct kvc_metrics *model)
{
    uint32_t count = simulation->store->shard_count;
    uint64_t all = 0, most = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t decoded = simulation->processors[i].counts.decoded;
        all += decoded;
        most = decoded > most ? decoded : most;
    }
    if (count > 1) {
        kvc_metrics_set_ratio(model, "fullest_nic_over_mean", (double)most * count, (double)all);
    }
}

static void report_model(const struct simulation *simulation, const struct sums *sums,
                         struct kvc_result *result)
{
    struct kvc_metrics *model = &result->model;
    kvc_metrics_set(model, "index_frac", simulation->config->index_frac);
    kvc_metrics_set(model, "inline_bytes", simulation->config->inline_bytes);
    kvc_metrics_set(model, "dispatch_frac", simulation->config->dispatch_frac);
    report_ratios(sums, "model", model);
    kvc_metrics_set(model, "operations_in_flight_most", sums->most_in_flight);
    kvc_metrics_set(model, "reads_in_flight_most", sums->most_reads);
    kvc_metrics_set(model, "writes_in_flight_most", sums->most_writes);
    report_imbalance(simulation, model);
}

static void set_totals(const void *state, struct kvc_result *result)
{
    const struct simulation *simulation = state;
    kvc_slices_totals(&simulation->slices, result);
    result->preload_wall_s = simulation->store->preload_wall_s;
}

static void report(void *state, struct kvc_result *result)
{
    const struct simulation *simulation = state;
    struct sums sums = difference(&simulation->last, &simulation->first);
    report_kernel(simulation, &sums, result);
    report_model(simulation, &sums, result);
    if (simulation->store->refused > 0) {
        kvc_result_note(result, "%llu pairs found no memory when the store was filled",
                        (unsigned long long)simulation->store->refused);
    }
    if (sums.counts.failed > 0) {
        kvc_result_note(result, "%llu PUTs found no memory", (unsigned long long)sums.counts.failed);
    }
}

static bool drained(const void *state)
{
    const struct simulation *simulation = state;
    for (uint32_t i = 0; i < simulation->store->shard_count; i++) {
        if (simulation->processors[i].free_packets < simulation->processors[i].packets) {
            return false;
        }
    }
    return true;
}

static const char *const parts[] = {"frame, network, receive", "wait for decoder", "operation",
                                    "send, network", NULL};

static const struct kvc_simulator simulator = {
    .state_bytes = sizeof(struct simulation),
    .machine = open_machine,
    .source = set_source,
    .open = open_nics,
    .count = count,
    .drained = drained,
    .parts = parts,
    .totals = set_totals,
    .stages = kvc_kvdirect_stages,
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
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    double run_bytes = kvc_replica_memory_bytes(scenario, window_ns, config->shards) +
                       config->shards * kvc_kvdirect_processor_memory_bytes(config);
    return kvc_kvdirect_store_memory_bytes(scenario) +
           fmax(kvc_kvdirect_store_fill_bytes(scenario), run_bytes);
}

static enum kvc_status prepare(const struct kvc_scenario *scenario, uint64_t seed, void **state,
                               const struct kvc_progress *progress, struct kvc_diag *diag)
{
    struct kvc_kvdirect_store *store = NULL;
    enum kvc_status status = kvc_kvdirect_store_create(scenario, seed, progress, &store, diag);
    *state = store;
    return status;
}

static uint32_t sizes(const struct kvc_scenario *scenario, double *size)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    uint32_t count = 0;
    size[count++] = config->shards;
    size[count++] = config->nic_bytes;
    size[count++] = config->index_frac;
    size[count++] = config->inline_bytes;
    size[count++] = (double)config->sample_rate;
    size[count++] = config->dispatch_frac;
    size[count++] = config->card.fpga->dram_bytes;
    size[count++] = (double)config->card.pcie->endpoints;
    size[count++] = kvc_kvdirect_reads(&config->mean.accesses);
    size[count++] = config->mean.put_frac;
    return count;
}

static void platform(const struct kvc_scenario *scenario, struct kvc_platform *platform)
{
    struct kvc_kvdirect_machine machine;
    kvc_kvdirect_machine_open(&machine, scenario, platform);
    kvc_kvdirect_machine_close(&machine);
}

static const struct kvc_model_device devices[] = {
    {&kvc_pcie_kind, "catapult-pcie3-x8"}, {&kvc_fpga_kind, "catapult-stratix-v"},
    {&kvc_nic_kind, "catapult-40g"},       {&kvc_cpu_kind, "xeon-e5-2650v2"},
    {&kvc_dram_kind, "ddr3-1333-e5v2"},    {NULL, NULL},
};

/* Sockets have processors and memory; a NIC is one card with its FPGA, its ports and its PCIe links. */
static double device_count(const struct kvc_scenario *scenario, const struct kvc_device_kind *kind)
{
    bool of_socket = kind == &kvc_cpu_kind || kind == &kvc_dram_kind;
    return of_socket ? (double)scenario->node.sockets : kvc_kvdirect_config_of(scenario)->nics;
}

const struct kvc_model kvc_kvdirect_model = {
    .pair_bytes_most = KVC_KVDIRECT_TABLE_PAIR_MAX,
    .name = "kvdirect",
    .help =
        "programmable NICs that walk the host's hash table over PCIe: out-of-order engine, NIC DRAM as cache",
    .paper = "Li et al., SOSP 2017",
    .options = &kvc_kvdirect_option_table,
    .has_sockets = true,
    .devices = devices,
    .device_count = device_count,
    .takes_tenants = true,
    .config_bytes = sizeof(struct kvc_kvdirect_config),
    .resolve = kvc_kvdirect_resolve,
    .check = kvc_kvdirect_check,
    .memory_bytes = memory_bytes,
    .platform = platform,
    .stages = kvc_kvdirect_stages,
    .resources = kvc_kvdirect_resources,
    .predict = kvc_kvdirect_predict,
    .prepare = prepare,
    .sizes = sizes,
    .run = run,
};
