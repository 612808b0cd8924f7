/* DIDO's entry in the registry, and the frame of its simulation. DIDO is the design by Zhang, Hu, He and Hua,
 * "DIDO: Dynamic Pipelines for In-Memory Key-Value Stores on Coupled CPU-GPU Architectures", ICDE 2017. */
#include "models/dido/dido.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/shards/sizes.h"
#include "models/shards/store.h"
#include "models/dido/adapt.h"
#include "models/dido/config.h"
#include "models/dido/predict.h"
#include "models/dido/real/measure.h"
#include "models/dido/resources.h"
#include "models/dido/simulation.h"
#include "models/latency.h"
#include "models/simulate.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/devices/network.h"
#include "sim/run/replica_memory.h"
#include "sim/workload/phases.h"

/* ---- machine ---- */

static uint32_t add_host(struct kvc_platform *platform, uint32_t zone, const char *name, const char *device,
                         double speed, const struct kvc_watts *watts)
{
    struct kvc_platform_host host = {
        .device = device, .cores = 1, .pstates = 1, .pstate = {{.speed = speed, .watts = *watts}}};
    snprintf(host.name, sizeof(host.name), "node0.%s", name);
    return kvc_platform_add_host(platform, zone, &host);
}

static struct kvc_dido_machine add_machine(const struct kvc_scenario *scenario, struct kvc_platform *platform)
{
    const struct kvc_dido_config *config = kvc_dido_config_of(scenario);
    const struct kvc_cpu_pstate state = kvc_cpu_pstate(config->cpu, config->cpu_pstate);
    const struct kvc_gpu_clock *clock = &config->gpu->clocks[0];
    struct kvc_watts cpu = {0}, gpu = {0};
    const struct kvc_watts unknown = {0};
    if (kvc_cpu_has_watts(&state)) {
        cpu = (struct kvc_watts){state.idle_watts, state.all_cores_watts, state.all_cores_watts};
    }
    if (kvc_gpu_has_watts(clock)) {
        gpu = (struct kvc_watts){clock->idle_watts, clock->busy_watts, clock->busy_watts};
    }
    uint32_t zone = kvc_platform_add_zone(platform, "node0");
    struct kvc_dido_machine machine = {
        .cpu = add_host(platform, zone, "cpu", "cpu", (double)config->cpu->cores, &cpu),
        .gpu = add_host(platform, zone, "gpu", "gpu", 1, &gpu),
        .dram = add_host(platform, zone, "dram", "dram", kvc_dram_channels(config->dram), &unknown),
    };
    if (config->pcie != NULL) {
        machine.down = add_host(platform, zone, "pcie-down", "pcie", 1, &unknown);
        machine.up = add_host(platform, zone, "pcie-up", "pcie", 1, &unknown);
    }
    if (config->feed == KVC_DIDO_NETWORK) {
        machine.in = add_host(platform, zone, "nic-in", "nic", 1, &unknown);
        machine.out = add_host(platform, zone, "nic-out", "nic", 1, &unknown);
    }
    return machine;
}

/* ---- batches ---- */

static bool saturates(const struct kvc_dido_simulation *simulation)
{
    return simulation->scenario->workload.arrival == KVC_ARRIVAL_SATURATE;
}

/* Takes the requests that have arrived, as many as a batch may have. Returns whether there are any. */
static bool receive(struct kvc_dido_simulation *simulation, struct kvc_batch *rows, double now_ns)
{
    uint32_t most = (uint32_t)lround(simulation->batch_queries);
    uint64_t started = kvc_clock_ticks();
    rows->count = 0;
    while (rows->count < most && kvc_source_drain(simulation->replica.source, 0, now_ns, rows) > 0) {
        ;
    }
    simulation->replica.source_ticks += kvc_clock_ticks() - started;
    for (uint32_t i = 0; saturates(simulation) && i < rows->count; i++) {
        rows->sent_ns[i] = now_ns;
    }
    kvc_recorder_offered(&simulation->replica.recorder, rows->sent_ns, rows->count);
    return rows->count > 0;
}

/* A pipeline has as many batches as stages. Those of an earlier plan count, too. */
static struct kvc_dido_batch *free_batch(struct kvc_dido_simulation *simulation)
{
    struct kvc_dido_batch *batch = NULL;
    uint32_t under_way = 0;
    for (uint32_t i = 0; i < simulation->workers; i++) {
        under_way += simulation->batch[i].under_way;
        batch = simulation->batch[i].under_way ? batch : &simulation->batch[i];
    }
    return under_way < simulation->pipeline.stages ? batch : NULL;
}

/* Sets the mean sizes of the queries of a batch. */
static void set_sizes(struct kvc_dido_mix *mix, const struct kvc_batch *rows)
{
    uint64_t key_bytes = 0, value_bytes = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        key_bytes += rows->key_bytes[i];
        value_bytes += rows->value_bytes[i];
    }
    mix->key_bytes = (double)key_bytes / rows->count;
    mix->value_bytes = (double)value_bytes / rows->count;
}

/* Prepares a batch that has its requests. A batch of several phases counts as one of its first request's,
 * whose caches and frames it has. */
static void prepare(struct kvc_dido_simulation *simulation, struct kvc_dido_batch *batch)
{
    const struct kvc_workload *workload = &simulation->scenario->workload;
    const struct kvc_batch *rows = batch->rows;
    const struct kvc_dido_load *load = &simulation->load[kvc_phases_at(workload, rows->sent_ns[0])];
    batch->under_way = true;
    batch->slowest_ns = 0;
    kvc_dido_sample(simulation, batch);
    batch->config = &load->config;
    batch->mix = load->mix;
    batch->mix.get_frac = (double)batch->gets / rows->count;
    if (kvc_phases_count(workload) > 1) {
        set_sizes(&batch->mix, rows);
    }
    batch->pipeline = simulation->pipeline;
    batch->plan = simulation->plans;
}

/* Under load that is not saturating, batches begin an interval apart, as they are scheduled periodically. */
static void *next(void *data, double *until_ns)
{
    struct kvc_dido_simulation *simulation = data;
    struct kvc_dido_batch *batch = free_batch(simulation);
    double now_ns = kvc_engine_now_ns();
    double interval_ns = kvc_dido_interval_ns(simulation->config, &simulation->pipeline);
    double due_ns = saturates(simulation) ? 0 : simulation->began_ns + interval_ns;
    if (batch == NULL) {
        return NULL;
    }
    if (now_ns < due_ns) {
        *until_ns = due_ns;
        return NULL;
    }
    simulation->began_ns = now_ns;
    if (!receive(simulation, batch->rows, now_ns)) {
        *until_ns = saturates(simulation) ? INFINITY : now_ns + interval_ns;
        return NULL;
    }
    prepare(simulation, batch);
    return batch;
}

/* ---- stages ---- */

static uint32_t begin(void *data, void *at, uint32_t stage)
{
    struct kvc_dido_batch *batch = at;
    struct kvc_dido_simulation *simulation = data;
    const struct kvc_dido_config *config = batch->config;
    const struct kvc_dido_stage *mine = &batch->pipeline.stage[stage];
    struct kvc_dido_stage_costs *costs = &batch->costs[stage];
    uint32_t stolen = kvc_dido_stealable(mine);
    double queries = batch->rows->count;
    simulation->worker[stage] = *mine;
    kvc_dido_execute(simulation, batch, stage);
    costs->whole =
        kvc_dido_cost_of(config, &batch->pipeline, mine->tasks, mine->on_gpu, &batch->mix, queries);
    if (config->options->stealing) {
        costs->stolen =
            kvc_dido_cost_of(config, &batch->pipeline, stolen, !mine->on_gpu, &batch->mix, queries);
        costs->rest = kvc_dido_cost_of(config, &batch->pipeline, mine->tasks & ~stolen, mine->on_gpu,
                                       &batch->mix, queries);
    }
    return (uint32_t)ceil(queries / (double)config->options->steal_set);
}

static uint32_t stages(const void *at)
{
    const struct kvc_dido_batch *batch = at;
    return batch->pipeline.stages;
}

static uint32_t processor(const void *at, uint32_t stage)
{
    const struct kvc_dido_batch *batch = at;
    return batch->pipeline.stage[stage].on_gpu;
}

/* A processor that the batch's pipeline does not use stays idle, although it may have had a stage of an
 * earlier plan. */
static bool may_steal(const void *data, const void *at, uint32_t stage, uint32_t by)
{
    const struct kvc_dido_batch *batch = at;
    const struct kvc_dido_simulation *simulation = data;
    bool has_stage = false;
    for (uint32_t s = 0; s < batch->pipeline.stages; s++) {
        has_stage = has_stage || processor(batch, s) == by;
    }
    return simulation->config->options->stealing && has_stage &&
           kvc_dido_stealable(&batch->pipeline.stage[stage]) != 0;
}

static double approach_ns(void *data, const void *at, uint32_t stage, uint32_t by)
{
    const struct kvc_dido_batch *batch = at;
    (void)data;
    const struct kvc_dido_stage_costs *costs = &batch->costs[stage];
    return by == processor(batch, stage) ? costs->whole.launch_ns : costs->stolen.launch_ns;
}

/* Returns the share of a batch that some units are. */
static double share_of(const struct kvc_dido_simulation *simulation, const struct kvc_dido_batch *batch,
                       uint32_t units)
{
    double set = (double)simulation->config->options->steal_set, queries = batch->rows->count;
    return fmin(units / ceil(queries / set), 1);
}

static void take(void *data, const void *at, uint32_t stage, enum kvc_stage_piece piece, uint32_t by,
                 uint32_t units, struct kvc_draw *draw)
{
    const struct kvc_dido_batch *batch = at;
    const struct kvc_dido_simulation *simulation = data;
    const struct kvc_dido_config *config = simulation->config;
    const struct kvc_dido_stage_costs *costs = &batch->costs[stage];
    const struct kvc_dido_stage *worker = &simulation->worker[by];
    const struct kvc_dido_cost *cost = piece == KVC_PIECE_WHOLE    ? &costs->whole
                                       : piece == KVC_PIECE_STOLEN ? &costs->stolen
                                                                   : &costs->rest;
    double frac = share_of(simulation, batch, units), cores = worker->cores;
    double all_ns = worker->on_gpu ? cost->kernel_ns : cost->core_ns;
    if (config->options->stealing && all_ns > 0) {
        all_ns += kvc_dido_taking_ns(config, worker->on_gpu, batch->rows->count);
    }
    double work_ns = frac * all_ns;
    double alone_ns = worker->on_gpu ? work_ns : work_ns / cores;
    draw[0] = (struct kvc_draw){worker->on_gpu ? simulation->machine.gpu : simulation->machine.cpu, work_ns,
                                alone_ns};
    /* The lines arrive while the work goes on, unless the channels need longer. Kernels take at least the
     * time of their link, and cores that of their frames. */
    double channel_ns = frac * cost->channel_ns;
    draw[1] = (struct kvc_draw){simulation->machine.dram, channel_ns,
                                fmax(alone_ns, channel_ns / kvc_dram_channels(config->dram))};
    const struct kvc_dido_machine *machine = &simulation->machine;
    bool has_come = !worker->on_gpu && !saturates(simulation);
    draw[2] = (struct kvc_draw){worker->on_gpu ? machine->down : machine->in,
                                has_come ? 0 : frac * cost->down_ns, alone_ns};
    draw[3] = (struct kvc_draw){worker->on_gpu ? machine->up : machine->out, frac * cost->up_ns, alone_ns};
}

static void worked(void *data, const void *at, uint32_t stage, enum kvc_stage_piece piece, uint32_t by,
                   uint32_t units, double start_ns)
{
    const struct kvc_dido_batch *batch = at;
    struct kvc_dido_simulation *simulation = data;
    struct kvc_recorder *recorder = &simulation->replica.recorder;
    double now_ns = kvc_engine_now_ns(), queries = share_of(simulation, batch, units) * batch->rows->count;
    kvc_recorder_busy(recorder, by, start_ns, now_ns);
    kvc_timeline_event(simulation->replica.context->timeline, 0, by,
                       piece == KVC_PIECE_STOLEN ? "stolen" : "queries", start_ns, now_ns - start_ns,
                       (uint64_t)lround(queries));
    if (now_ns < recorder->from_ns || now_ns >= recorder->until_ns) {
        return;
    }
    (void)stage;
    simulation->sums.stage_queries += piece != KVC_PIECE_REST ? (uint64_t)lround(queries) : 0;
    simulation->sums.stolen_queries += piece == KVC_PIECE_STOLEN ? (uint64_t)lround(queries) : 0;
}

static void ended(void *data, void *at, uint32_t stage, double start_ns)
{
    struct kvc_dido_batch *batch = at;
    struct kvc_dido_simulation *simulation = data;
    const struct kvc_recorder *recorder = &simulation->replica.recorder;
    const struct kvc_dido_cost *cost = &batch->costs[stage].whole;
    double now_ns = kvc_engine_now_ns(), ns = now_ns - start_ns;
    batch->slowest_ns = fmax(batch->slowest_ns, ns);
    batch->stage_began_ns = start_ns;
    batch->passed_ns[0] = stage == 0 ? start_ns : batch->passed_ns[0];
    batch->passed_ns[1 + stage] = now_ns;
    if (simulation->config->adapts && kvc_dido_stage_has(&batch->pipeline.stage[stage], KVC_DIDO_PP)) {
        kvc_dido_planner_look(simulation, batch);
    }
    if (now_ns < recorder->from_ns || now_ns >= recorder->until_ns) {
        return;
    }
    simulation->sums.stage_ns[stage] += ns;
    simulation->sums.stage_batches[stage]++;
    if (batch->pipeline.stage[stage].on_gpu) {
        simulation->sums.gpu_ns += cost->launch_ns + cost->kernel_ns;
        simulation->sums.gpu_insert_ns += cost->task_ns[KVC_DIDO_INSERT];
        simulation->sums.gpu_erase_ns += cost->task_ns[KVC_DIDO_ERASE];
    }
}

/* The next batches are so large that the slowest stage would have taken the interval for this one. They do
 * not get smaller in vain: where most of the time is that of a launch, or of a frame that a thread parses,
 * smaller batches take hardly less, and would go on shrinking until few queries were left. */
static void size_batches(struct kvc_dido_simulation *simulation, const struct kvc_dido_batch *batch)
{
    double interval_ns = kvc_dido_interval_ns(simulation->config, &batch->pipeline);
    double queries = batch->rows->count, ns = batch->slowest_ns;
    double smaller = queries / simulation->larger_queries;
    bool in_vain = ns > interval_ns && smaller < 1 && ns > (1 + smaller) / 2 * simulation->larger_ns;
    if (!in_vain) {
        simulation->batch_queries = kvc_dido_next_batch(interval_ns, simulation->batch_queries, queries, ns);
        simulation->larger_queries = ns > interval_ns ? queries : 0;
        simulation->larger_ns = ns;
    }
}

/* Counts the outcomes of rows first to last - 1. */
static void count_outcomes(struct kvc_dido_sums *sums, const struct kvc_dido_batch *batch, uint32_t first,
                           uint32_t last)
{
    sums->completed += last - first;
    for (uint32_t i = first; i < last; i++) {
        sums->hits += batch->outcome[i] == KVC_DIDO_HIT;
        sums->misses += batch->outcome[i] == KVC_DIDO_MISS;
        sums->sets += batch->rows->op[i] == KVC_OP_SET;
        sums->deletes += batch->rows->op[i] == KVC_OP_DELETE;
    }
}

static void done(void *data, void *at)
{
    struct kvc_dido_batch *batch = at;
    struct kvc_dido_simulation *simulation = data;
    struct kvc_recorder *recorder = &simulation->replica.recorder;
    struct kvc_dido_sums *sums = &simulation->sums;
    const struct kvc_batch *rows = batch->rows;
    double now_ns = kvc_engine_now_ns(), stage_ns = now_ns - batch->stage_began_ns;
    uint32_t first, last;
    /* The last stage does its tasks set by set, so responses leave all the time. Both ways count here,
     * because batches are collected from what is due, whatever its way took. */
    double ways_ns = 2 * simulation->config->path_ns;
    for (uint32_t i = 0; i < rows->count; i++) {
        simulation->done_ns[i] = batch->stage_began_ns + (i + 1.0) / rows->count * stage_ns + ways_ns;
    }
    kvc_recorder_latencies(recorder, now_ns, rows->sent_ns, simulation->done_ns, rows->count);
    kvc_recorder_paths(recorder, rows->sent_ns, simulation->done_ns, rows->count, batch->passed_ns,
                       batch->pipeline.stages, 0);
    kvc_recorder_completions(recorder, now_ns, rows->sent_ns, simulation->done_ns, rows->count, &first,
                             &last);
    kvc_recorder_tenants(recorder, &(struct kvc_tenant_rows){.tenant = rows->client,
                                                             .sent_ns = rows->sent_ns,
                                                             .done_ns = simulation->done_ns,
                                                             .outcome = batch->outcome,
                                                             .hit = KVC_DIDO_HIT,
                                                             .miss = KVC_DIDO_MISS,
                                                             .other_miss = KVC_DIDO_MISS,
                                                             .times_all = true,
                                                             .count = rows->count});
    kvc_recorder_lookups(recorder, now_ns, batch->kept_gets, batch->hits);
    kvc_source_complete(simulation->replica.source, rows->client, simulation->done_ns, rows->count);
    for (uint32_t i = 0; kvc_source_fills(simulation->replica.source) && i < rows->count; i++) {
        if (batch->outcome[i] == KVC_DIDO_MISS) {
            kvc_source_miss_row(simulation->replica.source, rows, i, simulation->done_ns[i]);
        }
    }
    count_outcomes(sums, batch, first, last);
    if (first == 0 && last == rows->count) {
        sums->batches++;
        sums->queries += rows->count;
        sums->period_ns += batch->slowest_ns;
    }
    /* The time of a batch of an earlier plan says nothing about the current plan. */
    if (saturates(simulation) && batch->plan == simulation->plans) {
        size_batches(simulation, batch);
    }
    simulation->planner.found = batch->mix;
    batch->under_way = false;
}

static const struct kvc_stage_graph_ops ops = {next,        begin, stages, processor, may_steal,
                                               approach_ns, take,  worked, ended,     done};

/* ---- the run ---- */

static void open_batch(struct kvc_dido_batch *batch, uint32_t rows, uint32_t key_stride)
{
    batch->rows = kvc_batch_create(rows, key_stride);
    batch->location = kvc_array_of(rows, sizeof(*batch->location));
    batch->outcome = kvc_array_of(rows, sizeof(*batch->outcome));
    batch->kept = kvc_array_of(rows, sizeof(*batch->kept));
    batch->evicted = kvc_array_of(rows, sizeof(*batch->evicted));
}

/* Returns the memory of the batches of a replica [bytes]. */
static double run_memory_bytes(const struct kvc_scenario *scenario)
{
    const struct kvc_dido_batch *batch = NULL;
    double sum = 0;
    for (uint32_t i = 0; i < kvc_phases_count(&scenario->workload); i++) {
        const struct kvc_dido_config config = kvc_dido_config_of_phase(scenario, i);
        const struct kvc_workload workload = kvc_phases_workload(&scenario->workload, i);
        const struct kvc_dido_mix mix = kvc_dido_mix_of(&config, &workload);
        double rows = kvc_dido_plan_of(&config, &config.pipeline, &mix).queries;
        double room = KVC_DIDO_BATCH_MAX + config.frame_requests;
        double bytes = kvc_batch_memory_bytes(room, rows, kvc_workload_key_stride(&workload)) +
                       kvc_array_memory_bytes(room, rows, sizeof(*batch->location)) +
                       kvc_array_memory_bytes(room, rows, sizeof(*batch->outcome)) +
                       kvc_array_memory_bytes(room, rows, sizeof(*batch->kept)) +
                       kvc_array_memory_bytes(room, rows, sizeof(*batch->evicted));
        sum = fmax(sum, config.pipeline.stages * bytes);
    }
    return sum;
}

/* Sets up the load of each phase. */
static void open_loads(struct kvc_dido_simulation *simulation)
{
    const struct kvc_scenario *scenario = simulation->scenario;
    for (uint32_t i = 0; i < kvc_phases_count(&scenario->workload); i++) {
        struct kvc_workload workload = kvc_phases_workload(&scenario->workload, i);
        simulation->load[i].config = kvc_dido_config_of_phase(scenario, i);
        simulation->load[i].mix = kvc_dido_mix_of(&simulation->load[i].config, &workload);
        simulation->phase_frame_requests[i] = simulation->load[i].config.frame_requests;
    }
}

static uint32_t most_frame_requests(const struct kvc_dido_simulation *simulation)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < kvc_phases_count(&simulation->scenario->workload); i++) {
        uint32_t requests = simulation->phase_frame_requests[i];
        most = requests > most ? requests : most;
    }
    return most;
}

static void open_simulation(void *state)
{
    struct kvc_dido_simulation *simulation = state;
    const struct kvc_dido_config *config = simulation->config;
    uint32_t rows = KVC_DIDO_BATCH_MAX + most_frame_requests(simulation);
    struct kvc_timeline *timeline = simulation->replica.context->timeline;
    struct kvc_model_stage stage[KVC_MODEL_STAGES_MAX];
    kvc_dido_stages(simulation->scenario, stage);
    for (uint32_t s = 0; s < simulation->workers; s++) {
        char name[32];
        snprintf(name, sizeof(name), "stage %u (%s)", s + 1, stage[s].device);
        kvc_timeline_row(timeline, 0, s, "node0", name);
        open_batch(&simulation->batch[s], rows, kvc_workload_key_stride(&simulation->scenario->workload));
    }
    simulation->done_ns = kvc_array_of(rows, sizeof(*simulation->done_ns));
    simulation->hashes = kvc_array_of(rows, sizeof(*simulation->hashes));
    simulation->rows = kvc_array_of(rows, sizeof(*simulation->rows));
    simulation->locations = kvc_array_of(rows, sizeof(*simulation->locations));
    simulation->result = kvc_array_of(rows, sizeof(*simulation->result));
    simulation->response = kvc_array_of(KVC_DIDO_RESPONSE_BYTES, 1);
    const struct kvc_dido_load *first = &simulation->load[0];
    simulation->pipeline = config->pipeline;
    simulation->plans = 1;
    simulation->batch_queries = kvc_dido_plan_of(&first->config, &config->pipeline, &first->mix).queries;
    if (config->adapts) {
        kvc_dido_planner_open(simulation);
    }
    simulation->began_ns = -INFINITY;
    kvc_rng_init(&simulation->thinning, simulation->replica.context->seed, "dido.thinning", 0);
    kvc_rng_init(&simulation->drawn, simulation->replica.context->seed, "dido.outcome", 0);
    simulation->graph =
        (struct kvc_stage_graph){.ops = &ops, .data = simulation, .workers = simulation->workers};
    kvc_stage_graph_open(&simulation->graph);
}

static void close_simulation(void *state)
{
    struct kvc_dido_simulation *simulation = state;
    kvc_stage_graph_close(&simulation->graph);
    kvc_dido_planner_close(&simulation->planner);
    for (uint32_t i = 0; i < KVC_DIDO_STAGES_MAX; i++) {
        kvc_batch_free(simulation->batch[i].rows);
        free(simulation->batch[i].location);
        free(simulation->batch[i].outcome);
        free(simulation->batch[i].kept);
        free(simulation->batch[i].evicted);
    }
    free(simulation->done_ns);
    free(simulation->hashes);
    free(simulation->rows);
    free(simulation->locations);
    free(simulation->result);
    free(simulation->response);
}

static bool drained(const void *data)
{
    const struct kvc_dido_simulation *simulation = data;
    for (uint32_t i = 0; i < simulation->workers; i++) {
        if (simulation->batch[i].under_way) {
            return false;
        }
    }
    return true;
}

/* A window is the time in which a batch passes through the pipeline, or shows the phases of the load. */
static double window_ns_of(const struct kvc_scenario *scenario)
{
    const struct kvc_dido_config *config = kvc_dido_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    return workload->phase_count > 0
               ? kvc_phases_window_ns(workload)
               : config->pipeline.stages * kvc_dido_interval_ns(config, &config->pipeline);
}

static void open_machine(void *state, const struct kvc_run_context *context, struct kvc_platform *platform)
{
    struct kvc_dido_simulation *simulation = state;
    simulation->scenario = context->scenario;
    simulation->config = kvc_dido_config_of(context->scenario);
    simulation->store = context->state;
    simulation->workers = kvc_dido_stages_most(context->scenario);
    simulation->machine = add_machine(context->scenario, platform);
}

static void set_source(void *state, struct kvc_replica_options *options)
{
    struct kvc_dido_simulation *simulation = state;
    open_loads(simulation);
    options->source.frame_requests = simulation->config->frame_requests;
    options->source.phase_frame_requests = simulation->phase_frame_requests;
    options->window_ns = window_ns_of(simulation->scenario);
}

/* ---- report ---- */

static void count(void *data, bool begins)
{
    struct kvc_dido_simulation *simulation = data;
    struct kvc_dido_counters *counters = begins ? &simulation->first : &simulation->last;
    const struct kvc_index_stats *stats = &counters->index;
    const struct kvc_dido_sums *sums = &simulation->sums;
    if (simulation->store->shards != NULL) {
        const struct kvc_shard *shard = &simulation->store->shards[0];
        *counters =
            (struct kvc_dido_counters){shard->index_stats, shard->slab_stats.evicted, shard->rejected};
    }
    const struct kvc_ratio ratio[] = {
        {"kernel", NULL, "lines_per_search", (double)stats->search_lines, (double)stats->searches,
         KVC_RATIO_OF_COUNTS},
        {"model", NULL, "batch_queries", (double)sums->queries, (double)sums->batches, KVC_RATIO_OF_COUNTS},
        {"model", NULL, "period_us", sums->period_ns * 1e-3, (double)sums->batches, KVC_RATIO_OF_ENGINE},
        {"model", NULL, "stolen_frac", (double)sums->stolen_queries, (double)sums->stage_queries,
         KVC_RATIO_OF_COUNTS},
    };
    kvc_recorder_sample(&simulation->replica.recorder, ratio, sizeof(ratio) / sizeof(*ratio));
}

static void report_changes(const struct kvc_dido_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_workload *workload = &simulation->scenario->workload;
    double recovery_us = kvc_dido_recovery_us(workload, simulation->replica.recorder.from_ns, result);
    if (simulation->config->adapts) {
        kvc_metrics_set(&result->model, "plans", (double)simulation->plans);
    }
    if (workload->phase_count > 0 && isfinite(recovery_us)) {
        kvc_metrics_set(&result->model, "recovery_us", recovery_us);
    }
}

static void report_kernel(const struct kvc_dido_simulation *simulation, struct kvc_metrics *kernel)
{
    const struct kvc_dido_counters *from = &simulation->first, *to = &simulation->last;
    /* Number of requests that a kept request stands for. */
    double rate = (double)simulation->store->sampling.rate;
    kvc_metrics_set(kernel, "load_factor_frac", kvc_shards_load_frac(simulation->store));
    kvc_shards_report_lines(&from->index, &to->index, kernel);
    kvc_metrics_set(kernel, "evictions", rate * (double)(to->evicted - from->evicted));
    kvc_metrics_set(kernel, "rejected", rate * (double)(to->rejected - from->rejected));
}

static void set_totals(const void *state, struct kvc_result *result)
{
    const struct kvc_dido_simulation *simulation = state;
    const struct kvc_dido_sums *sums = &simulation->sums;
    result->completed = sums->completed;
    result->hits = sums->hits;
    result->misses = sums->misses;
    result->sets = sums->sets;
    result->deletes = sums->deletes;
    result->preload_wall_s = simulation->store->preload_wall_s;
}

static void report(void *state, struct kvc_result *result)
{
    const struct kvc_dido_simulation *simulation = state;
    const struct kvc_dido_sums *sums = &simulation->sums;
    struct kvc_metrics *model = &result->model;
    kvc_result_add_server_latency(result, simulation->config->path_ns);
    kvc_paths_name(&result->paths, 0, "batch");
    for (uint32_t s = 0; s < result->stage_count; s++) {
        kvc_paths_name(&result->paths, 1 + s, result->stage[s].name);
        result->stage[s].mean_us = sums->stage_ns[s] / fmax((double)sums->stage_batches[s], 1) * 1e-3;
    }
    if (simulation->store->shards != NULL) {
        report_kernel(simulation, &result->kernel);
    }
    kvc_metrics_set_ratio(model, "batch_queries", (double)sums->queries, (double)sums->batches);
    kvc_metrics_set_ratio(model, "period_us", sums->period_ns * 1e-3, (double)sums->batches);
    kvc_metrics_set_ratio(model, "stolen_frac", (double)sums->stolen_queries, (double)sums->stage_queries);
    if (sums->gpu_ns > 0) {
        kvc_metrics_set(model, "gpu_insert_frac", sums->gpu_insert_ns / sums->gpu_ns);
        kvc_metrics_set(model, "gpu_delete_frac", sums->gpu_erase_ns / sums->gpu_ns);
    }
    report_changes(simulation, result);
    kvc_dido_report_pipeline(simulation->config, result);
}

static const struct kvc_simulator simulator = {
    .state_bytes = sizeof(struct kvc_dido_simulation),
    .machine = open_machine,
    .source = set_source,
    .open = open_simulation,
    .drained = drained,
    .count = count,
    .totals = set_totals,
    .stages = kvc_dido_stages,
    .report = report,
    .close = close_simulation,
};

static enum kvc_status run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    return kvc_simulate_replica(&simulator, context, diag);
}

/* ---- registry ---- */

/* Returns the mean size of an item [bytes]. The keys of all phases together fill the slabs. */
static double item_bytes(const struct kvc_scenario *scenario)
{
    const struct kvc_dido_config *config = kvc_dido_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    return workload->phase_count > 0
               ? config->slab_bytes / fmax(workload->preload_frac * (double)workload->keys, 1)
               : kvc_shards_means_of(workload, config->dram, config->nic, false).item_bytes;
}

static double memory_bytes(const struct kvc_scenario *scenario)
{
    const struct kvc_shards_params store = kvc_dido_store_params_of(scenario);
    struct kvc_result *predicted = kvc_array_of(1, sizeof(*predicted));
    struct kvc_diag unused = {0};
    double mops = kvc_dido_predict(scenario, predicted, &unused) == KVC_OK ? predicted->throughput_mops : 0;
    double window_ns = window_ns_of(scenario);
    double writes = scenario->workload.set_frac * kvc_replica_requests(scenario, window_ns, mops);
    free(predicted);
    return kvc_shards_memory_bytes(scenario, &store, item_bytes(scenario), writes) +
           run_memory_bytes(scenario) + kvc_replica_memory_bytes(scenario, window_ns, 1);
}

static enum kvc_status prepare_store(const struct kvc_scenario *scenario, uint64_t seed, void **state,
                                     const struct kvc_progress *progress, struct kvc_diag *diag)
{
    struct kvc_shards *store = NULL;
    enum kvc_status status = kvc_dido_store_create(scenario, seed, progress, &store, diag);
    *state = store;
    return status;
}

static uint32_t sizes(const struct kvc_scenario *scenario, double *size)
{
    const struct kvc_shards_params params = kvc_dido_store_params_of(scenario);
    return kvc_shards_sizes(&params, size);
}

static void platform(const struct kvc_scenario *scenario, struct kvc_platform *platform)
{
    add_machine(scenario, platform);
}

static const struct kvc_model_device devices[] = {
    {&kvc_cpu_kind, "a10-7850k"},
    {&kvc_dram_kind, "ddr3-1333-a10-7850k"},
    {&kvc_gpu_kind, "a10-7850k-gpu"},
    {&kvc_nic_kind, "intel-82599"},
    {&kvc_network_kind, "direct-cable-10g"},
    {&kvc_pcie_kind, NULL}, /* Only a GPU with memory of its own needs a PCIe link. */
    {NULL, NULL},
};

const struct kvc_model kvc_dido_model = {
    .name = "dido",
    .help =
        "eight tasks of a query on the CPU and the GPU, on one chip or with PCIe between, placed anew as the "
        "load changes, with stealing between them",
    .paper = "Zhang et al., ICDE 2017",
    .options = &kvc_dido_option_table,
    .takes_phases = true,
    .devices = devices,
    .takes_tenants = true,
    .config_bytes = sizeof(struct kvc_dido_config),
    .resolve = kvc_dido_resolve,
    .check = kvc_dido_check,
    .rooms = kvc_dido_rooms,
    .memory_bytes = memory_bytes,
    .platform = platform,
    .stages = kvc_dido_stages,
    .resources = kvc_dido_resources,
    .predict = kvc_dido_predict,
    .prepare = prepare_store,
    .sizes = sizes,
    .run = run,
    .measurable = &kvc_dido_measurable,
};
