#include "models/kvdirect/run.h"

#include <math.h>
#include <stdlib.h>

#include "models/kvdirect/config.h"
#include "models/kvdirect/processor.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/engine.h"
#include "sim/metrics/bottleneck.h"
#include "sim/metrics/recorder.h"

/* How long a NIC goes on by itself. Clients that wait for responses must not be overtaken: what they send
 * because of a response needs the way back and forth. */
static const double slice_ns = 4000;
static const double window_ns = 50000;

enum stage { RECEIVE, DECODE, ACCESS, PCIE, GATHER, DRAM, SEND, STAGES };

struct node_nic {
    struct simulation *simulation;
    struct kvc_kvdirect_processor processor;
    uint32_t number;
    double busy_ns[STAGES]; /* when its last slice ended */
};

struct simulation {
    const struct kvc_scenario *scenario;
    const struct kvc_kvdirect_config *config;
    struct kvc_kvdirect_store *store;
    struct kvc_source *source;
    struct node_nic *nics;
    struct kvc_recorder recorder;
    struct kvc_timeline *timeline;
    const struct kvc_progress *progress;
    double slice_ns;
    double busy_ns[STAGES]; /* of all NICs, in the measured time */
    uint64_t outcome[KVC_KVDIRECT_DELETE_DONE + 1];
    uint64_t completed;
};

/* ---- what happens ---- */

static void record(struct simulation *simulation, struct kvc_kvdirect_answers *answers, double now_ns)
{
    uint32_t first, last;
    kvc_recorder_latencies(&simulation->recorder, now_ns, answers->sent_ns, answers->done_ns, answers->count);
    kvc_recorder_completions(&simulation->recorder, now_ns, answers->done_ns, answers->count, &first, &last);
    for (uint32_t i = first; i < last; i++) {
        simulation->outcome[answers->outcome[i]]++;
    }
    simulation->completed += last - first;
    if (simulation->scenario->workload.arrival == KVC_ARRIVAL_CLOSED) {
        kvc_source_complete(simulation->source, answers->client, answers->done_ns, answers->count);
    }
    answers->count = 0;
}

/* Of the tags and credits that are the limit, or of a direction of a link, whichever is busier. */
static double pcie_busy_ns(const struct kvc_kvdirect_memory_engine *memory)
{
    double most_ns = 0;
    for (uint32_t i = 0; i < memory->pcie->endpoints; i++) {
        const struct kvc_pcie_engine *engine = &memory->engine[i];
        double reads_ns = engine->reads.held_ns / engine->reads.limit;
        double writes_ns = engine->writes.held_ns / engine->writes.limit;
        double link_ns = fmax(engine->up_busy_ns, engine->down_busy_ns);
        most_ns = fmax(most_ns, fmax(link_ns, fmax(reads_ns, writes_ns)));
    }
    return most_ns;
}

static void note_busy(struct node_nic *nic, double now_ns)
{
    struct simulation *simulation = nic->simulation;
    const struct kvc_kvdirect_processor *processor = &nic->processor;
    const struct kvc_kvdirect_counts *counts = &processor->counts;
    const struct kvc_kvdirect_memory_engine *memory = &processor->memory;
    const double busy_ns[STAGES] = {
        [RECEIVE] = counts->receive_busy_ns,
        [DECODE] = counts->decode_busy_ns,
        [ACCESS] = counts->access_busy_ns,
        [PCIE] = pcie_busy_ns(memory),
        [GATHER] = memory->gather.busy_ns / fmax(memory->gather.cores, 1),
        [DRAM] = memory->dram_busy_ns,
        [SEND] = counts->send_busy_ns,
    };
    bool measured = now_ns > simulation->recorder.from_ns && now_ns <= simulation->recorder.until_ns;
    for (int i = 0; i < STAGES; i++) {
        if (measured) {
            simulation->busy_ns[i] += busy_ns[i] - nic->busy_ns[i];
        }
        nic->busy_ns[i] = busy_ns[i];
    }
}

static void nic_main(void *data)
{
    struct node_nic *nic = data;
    struct simulation *simulation = nic->simulation;
    for (uint64_t slice = 1;; slice++) {
        double now_ns = (double)slice * simulation->slice_ns;
        kvc_engine_sleep_until_ns(now_ns);
        uint64_t decoded = nic->processor.counts.decoded;
        kvc_kvdirect_processor_advance(&nic->processor, now_ns);
        kvc_timeline_event(simulation->timeline, nic->number, 0, "operations", now_ns - simulation->slice_ns,
                           simulation->slice_ns, nic->processor.counts.decoded - decoded);
        note_busy(nic, now_ns);
        record(simulation, &nic->processor.answers, now_ns);
    }
}

/* Wakes once a window: is the warm-up over, is the run? */
static void monitor_main(void *data)
{
    struct simulation *simulation = data;
    struct kvc_recorder *recorder = &simulation->recorder;
    for (uint64_t window = 1;; window++) {
        kvc_engine_sleep_until_ns((double)window * recorder->window_ns);
        double now_ns = kvc_engine_now_ns();
        if (kvc_recorder_check(recorder, now_ns) || kvc_source_error(simulation->source, NULL) != KVC_OK) {
            kvc_engine_stop();
        }
        kvc_progress_report(simulation->progress, isfinite(recorder->from_ns) ? "measure" : "warm up",
                            isfinite(recorder->from_ns) ? (now_ns - recorder->from_ns) / recorder->duration_ns
                                                        : 0);
    }
}

/* ---- from the scenario to the answer ---- */

static void name_host(const struct simulation *simulation, uint32_t number, char *name, size_t size)
{
    uint32_t nics = simulation->config->nics;
    snprintf(name, size, "node%u-nic%u", number / nics, number % nics);
}

static enum kvc_status open_simulation(struct simulation *simulation, uint64_t seed, struct kvc_diag *diag)
{
    const struct kvc_scenario *scenario = simulation->scenario;
    struct kvc_source_params params = {
        .workload = &scenario->workload,
        .nodes = (uint32_t)scenario->cluster.nodes,
        .sockets = simulation->config->nics,
        .seed = seed,
        .hash_seed = KVC_KVDIRECT_HASH_SEED,
        .frame_requests = simulation->config->mean.packet_requests,
    };
    simulation->source = kvc_source_create(&params, diag);
    if (simulation->source == NULL) {
        return diag->status;
    }
    simulation->slice_ns = scenario->workload.arrival == KVC_ARRIVAL_CLOSED
                               ? fmin(slice_ns, 2 * simulation->config->card.nic->latency_ns)
                               : slice_ns;
    simulation->nics = kvc_array_of(simulation->store->shard_count, sizeof(*simulation->nics));
    for (uint32_t i = 0; i < simulation->store->shard_count; i++) {
        char name[KVC_NAME_MAX];
        struct node_nic *nic = &simulation->nics[i];
        nic->simulation = simulation;
        nic->number = i;
        kvc_kvdirect_processor_open(&nic->processor, scenario, simulation->store, simulation->source, i,
                                    params.frame_requests, seed);
        name_host(simulation, i, name, sizeof(name));
        kvc_timeline_row(simulation->timeline, i, 0, name, "processor");
    }
    return kvc_recorder_open(&simulation->recorder, window_ns, scenario->run.warmup_ns,
                             scenario->run.duration_ns, diag);
}

static void close_simulation(struct simulation *simulation)
{
    for (uint32_t i = 0; i < simulation->store->shard_count && simulation->nics != NULL; i++) {
        kvc_kvdirect_processor_close(&simulation->nics[i].processor);
    }
    free(simulation->nics);
    kvc_source_free(simulation->source);
    kvc_recorder_close(&simulation->recorder);
}

static enum kvc_status open_engine(const struct simulation *simulation, const char *platform_path,
                                   struct kvc_diag *diag)
{
    uint32_t count = simulation->store->shard_count;
    struct kvc_engine_host *hosts = kvc_array_of(count, sizeof(*hosts));
    for (uint32_t i = 0; i < count; i++) {
        name_host(simulation, i, hosts[i].name, sizeof(hosts[i].name));
        hosts[i].cores = 1;
    }
    enum kvc_status status = kvc_engine_open(platform_path, hosts, count, diag);
    free(hosts);
    return status;
}

static void spawn_all(struct simulation *simulation)
{
    char host[KVC_NAME_MAX];
    for (uint32_t i = 0; i < simulation->store->shard_count; i++) {
        name_host(simulation, i, host, sizeof(host));
        kvc_engine_spawn("nic", host, nic_main, &simulation->nics[i]);
    }
    name_host(simulation, 0, host, sizeof(host));
    kvc_engine_spawn("monitor", host, monitor_main, simulation);
}

static void report_stages(const struct simulation *simulation, struct kvc_result *result)
{
    static const char *const names[STAGES][2] = {
        [RECEIVE] = {"receive", "nic"}, [DECODE] = {"decode", "fpga"}, [ACCESS] = {"access", "fpga"},
        [PCIE] = {"pcie", "pcie"},      [GATHER] = {"gather", "cpu"},  [DRAM] = {"dram", "fpga"},
        [SEND] = {"send", "nic"},
    };
    double measured_ns = simulation->recorder.until_ns - simulation->recorder.from_ns;
    for (int i = 0; i < STAGES; i++) {
        if (i == GATHER && simulation->config->gather_cores == 0) {
            continue;
        }
        double utilization_frac =
            fmin(simulation->busy_ns[i] / simulation->store->shard_count / measured_ns, 1);
        struct kvc_stage_result *stage =
            kvc_result_add_stage(result, names[i][0], names[i][1], utilization_frac);
        stage->busy_s = simulation->busy_ns[i] * 1e-9;
        stage->served = simulation->completed;
    }
}

/* Sums over all NICs, of the whole run. */
struct sums {
    struct kvc_kvdirect_counts counts;
    struct kvc_kvdirect_table_stats table;
    uint64_t reads, writes, dram_lines;
    uint32_t most_reads, most_writes, most_in_flight;
};

static struct sums sum_up(const struct simulation *simulation)
{
    struct sums sums = {0};
    for (uint32_t i = 0; i < simulation->store->shard_count; i++) {
        const struct kvc_kvdirect_processor *processor = &simulation->nics[i].processor;
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

static void set_ratio(struct kvc_metrics *metrics, const char *name, double part, double whole)
{
    if (whole > 0) {
        kvc_metrics_set(metrics, name, part / whole);
    }
}

static void report_kernel(const struct simulation *simulation, const struct sums *sums,
                          struct kvc_result *result)
{
    struct kvc_metrics *kernel = &result->kernel;
    const struct kvc_kvdirect_counts *counts = &sums->counts;
    const struct kvc_kvdirect_slab_stats *slab = &sums->table.slab;
    kvc_metrics_set(kernel, "memory_utilization_frac", simulation->store->utilization_frac);
    set_ratio(kernel, "accesses_per_get", (double)counts->accesses[KVC_OP_GET],
              (double)counts->operations[KVC_OP_GET]);
    set_ratio(kernel, "accesses_per_set", (double)counts->accesses[KVC_OP_SET],
              (double)counts->operations[KVC_OP_SET]);
    set_ratio(kernel, "accesses_per_delete", (double)counts->accesses[KVC_OP_DELETE],
              (double)counts->operations[KVC_OP_DELETE]);
    set_ratio(kernel, "slab_dma_per_slab", (double)(slab->dma_reads + slab->dma_writes),
              (double)(slab->allocated + slab->released));
    /* of reads: a write follows the read of its line */
    double hits = (double)counts->steps[KVC_KVDIRECT_CACHE_READ],
           misses = (double)counts->steps[KVC_KVDIRECT_CACHE_FETCH];
    set_ratio(kernel, "cache_hit_frac", hits, hits + misses);
    set_ratio(kernel, "served_by_dram_frac", hits,
              hits + misses + (double)counts->steps[KVC_KVDIRECT_HOST_READ]);
    kvc_metrics_set(kernel, "failed", (double)counts->failed);
}

static void report_model(const struct simulation *simulation, const struct sums *sums,
                         struct kvc_result *result)
{
    struct kvc_metrics *model = &result->model;
    double decoded = (double)sums->counts.decoded;
    kvc_metrics_set(model, "index_frac", simulation->config->index_frac);
    kvc_metrics_set(model, "inline_bytes", simulation->config->inline_bytes);
    kvc_metrics_set(model, "dispatch_frac", simulation->config->dispatch_frac);
    set_ratio(model, "collided_frac", (double)sums->counts.collided, decoded);
    set_ratio(model, "merged_frac", (double)sums->counts.forwarded, decoded);
    set_ratio(model, "writebacks_per_op", (double)sums->counts.writebacks, decoded);
    set_ratio(model, "dma_reads_per_op", (double)sums->reads, decoded);
    set_ratio(model, "dma_writes_per_op", (double)sums->writes, decoded);
    set_ratio(model, "dram_lines_per_op", (double)sums->dram_lines, decoded);
    kvc_metrics_set(model, "operations_in_flight_most", sums->most_in_flight);
    kvc_metrics_set(model, "reads_in_flight_most", sums->most_reads);
    kvc_metrics_set(model, "writes_in_flight_most", sums->most_writes);
}

static void report(struct simulation *simulation, struct kvc_result *result)
{
    struct sums sums = sum_up(simulation);
    result->offered = sums.counts.decoded;
    result->completed = simulation->completed;
    result->hits = simulation->outcome[KVC_KVDIRECT_HIT];
    result->misses = simulation->outcome[KVC_KVDIRECT_MISS];
    result->gets = result->hits + result->misses;
    result->sets = simulation->outcome[KVC_KVDIRECT_SET_DONE];
    result->deletes = simulation->outcome[KVC_KVDIRECT_DELETE_DONE];
    kvc_recorder_report(&simulation->recorder, result);
    report_stages(simulation, result);
    report_kernel(simulation, &sums, result);
    report_model(simulation, &sums, result);
    result->watts_mean = simulation->config->watts;
    kvc_bottleneck_find(result);
    result->requests_simulated = sums.counts.decoded;
    if (simulation->store->refused > 0) {
        kvc_result_note(result, "%llu pairs found no memory when the store was filled",
                        (unsigned long long)simulation->store->refused);
    }
    if (sums.counts.failed > 0) {
        kvc_result_note(result, "%llu PUTs found no memory", (unsigned long long)sums.counts.failed);
    }
}

enum kvc_status kvc_kvdirect_run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    double started_s = kvc_clock_wall_s();
    const struct kvc_scenario *scenario = context->scenario;
    struct kvc_kvdirect_store *store = context->state;
    struct kvc_result *result = context->result;
    struct kvc_rng seeds;
    struct simulation *simulation = calloc(1, sizeof(*simulation));
    if (simulation == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a simulation");
    }
    *simulation = (struct simulation){.scenario = scenario,
                                      .config = kvc_kvdirect_config_of(scenario),
                                      .store = store,
                                      .timeline = context->timeline,
                                      .progress = context->progress};
    kvc_rng_init(&seeds, scenario->run.seed, "replica", context->replica);
    enum kvc_status status = open_engine(simulation, context->platform_path, diag);
    if (status == KVC_OK) {
        status = open_simulation(simulation, kvc_rng_u64(&seeds), diag);
    }
    if (status == KVC_OK) {
        spawn_all(simulation);
        kvc_engine_run();
        status = kvc_source_error(simulation->source, diag);
    }
    if (status == KVC_OK) {
        report(simulation, result);
        result->activities = kvc_engine_activities();
        result->engine_wall_s = kvc_engine_wall_s();
        result->preload_wall_s = store->preload_wall_s;
        result->wall_s = kvc_clock_wall_s() - started_s;
    }
    close_simulation(simulation);
    free(simulation);
    return status;
}
