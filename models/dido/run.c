#include "models/dido/run.h"

#include <math.h>
#include <stdlib.h>

#include "models/dido/config.h"
#include "models/dido/adapt.h"
#include "models/dido/simulation.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/workload/phases.h"

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
static struct kvc_stage_batch *free_batch(struct kvc_dido_simulation *simulation)
{
    struct kvc_stage_batch *batch = NULL;
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
static void prepare(struct kvc_dido_simulation *simulation, struct kvc_stage_batch *batch)
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
    struct kvc_stage_batch *batch = free_batch(simulation);
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
    struct kvc_stage_batch *batch = at;
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
    const struct kvc_stage_batch *batch = at;
    return batch->pipeline.stages;
}

static uint32_t processor(const void *at, uint32_t stage)
{
    const struct kvc_stage_batch *batch = at;
    return batch->pipeline.stage[stage].on_gpu;
}

/* A processor that the batch's pipeline does not use stays idle, although it may have had a stage of an
 * earlier plan. */
static bool may_steal(const void *data, const void *at, uint32_t stage, uint32_t by)
{
    const struct kvc_stage_batch *batch = at;
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
    const struct kvc_stage_batch *batch = at;
    (void)data;
    const struct kvc_dido_stage_costs *costs = &batch->costs[stage];
    return by == processor(batch, stage) ? costs->whole.launch_ns : costs->stolen.launch_ns;
}

/* Returns the share of a batch that some units are. */
static double share_of(const struct kvc_dido_simulation *simulation, const struct kvc_stage_batch *batch,
                       uint32_t units)
{
    double set = (double)simulation->config->options->steal_set, queries = batch->rows->count;
    return fmin(units / ceil(queries / set), 1);
}

static void take(void *data, const void *at, uint32_t stage, enum kvc_stage_piece piece, uint32_t by,
                 uint32_t units, struct kvc_draw *draw)
{
    const struct kvc_stage_batch *batch = at;
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
    /* The lines come as the work goes on, unless the channels need longer for them. Kernels take as long as
     * their link at least. */
    double channel_ns = frac * cost->channel_ns;
    draw[1] = (struct kvc_draw){simulation->machine.dram, channel_ns,
                                fmax(alone_ns, channel_ns / kvc_dram_channels(config->dram))};
    draw[2] = (struct kvc_draw){simulation->machine.down, frac * cost->down_ns, alone_ns};
    draw[3] = (struct kvc_draw){simulation->machine.up, frac * cost->up_ns, alone_ns};
}

static void worked(void *data, const void *at, uint32_t stage, enum kvc_stage_piece piece, uint32_t by,
                   uint32_t units, double start_ns)
{
    const struct kvc_stage_batch *batch = at;
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
    struct kvc_stage_batch *batch = at;
    struct kvc_dido_simulation *simulation = data;
    const struct kvc_recorder *recorder = &simulation->replica.recorder;
    const struct kvc_dido_cost *cost = &batch->costs[stage].whole;
    double now_ns = kvc_engine_now_ns(), ns = now_ns - start_ns;
    batch->slowest_ns = fmax(batch->slowest_ns, ns);
    batch->stage_began_ns = start_ns;
    if (simulation->config->adapts && kvc_dido_stage_has(&batch->pipeline.stage[stage], KVC_DIDO_PP)) {
        kvc_dido_planner_look(simulation, batch);
    }
    if (now_ns < recorder->from_ns || now_ns >= recorder->until_ns) {
        return;
    }
    simulation->sums.stage_ns[stage] += ns;
    if (batch->pipeline.stage[stage].on_gpu) {
        simulation->sums.gpu_ns += cost->launch_ns + cost->kernel_ns;
        simulation->sums.gpu_insert_ns += cost->task_ns[KVC_DIDO_INSERT];
        simulation->sums.gpu_erase_ns += cost->task_ns[KVC_DIDO_ERASE];
    }
}

/* The next batches are so large that the slowest stage would have taken the interval for this one. They do
 * not get smaller in vain: where most of the time is that of a launch, or of a frame that a thread parses,
 * smaller batches take hardly less, and would go on shrinking until few queries were left. */
static void size_batches(struct kvc_dido_simulation *simulation, const struct kvc_stage_batch *batch)
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
static void count_outcomes(struct kvc_dido_sums *sums, const struct kvc_stage_batch *batch, uint32_t first,
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
    struct kvc_stage_batch *batch = at;
    struct kvc_dido_simulation *simulation = data;
    struct kvc_recorder *recorder = &simulation->replica.recorder;
    struct kvc_dido_sums *sums = &simulation->sums;
    const struct kvc_batch *rows = batch->rows;
    double now_ns = kvc_engine_now_ns(), stage_ns = now_ns - batch->stage_began_ns;
    uint32_t first, last;
    /* The last stage does its tasks set by set, so responses leave all the time. */
    for (uint32_t i = 0; i < rows->count; i++) {
        simulation->done_ns[i] = batch->stage_began_ns + (i + 1.0) / rows->count * stage_ns;
    }
    kvc_recorder_latencies(recorder, now_ns, rows->sent_ns, simulation->done_ns, rows->count);
    kvc_recorder_completions(recorder, now_ns, simulation->done_ns, rows->count, &first, &last);
    kvc_recorder_lookups(recorder, now_ns, batch->kept_gets, batch->hits);
    kvc_source_complete(simulation->replica.source, rows->client, simulation->done_ns, rows->count);
    count_outcomes(sums, batch, first, last);
    if (first == 0 && last == rows->count) {
        sums->batches++;
        sums->queries += rows->count;
        sums->period_ns += batch->slowest_ns;
    }
    /* What a batch of an earlier plan took says nothing about the present one. */
    if (saturates(simulation) && batch->plan == simulation->plans) {
        size_batches(simulation, batch);
    }
    simulation->planner.found = batch->mix;
    batch->under_way = false;
}

static const struct kvc_stage_graph_ops ops = {next,        begin, stages, processor, may_steal,
                                               approach_ns, take,  worked, ended,     done};

/* ---- the run ---- */

static void open_batch(struct kvc_stage_batch *batch, uint32_t rows, uint32_t key_stride)
{
    batch->rows = kvc_batch_create(rows, key_stride);
    if (batch->rows == NULL) {
        kvc_out_of_memory("a batch of %u queries", rows);
    }
    batch->location = kvc_array_of(rows, sizeof(*batch->location));
    batch->outcome = kvc_array_of(rows, sizeof(*batch->outcome));
    batch->kept = kvc_array_of(rows, sizeof(*batch->kept));
    batch->evicted = kvc_array_of(rows, sizeof(*batch->evicted));
}

double kvc_dido_run_memory_bytes(const struct kvc_scenario *scenario)
{
    const struct kvc_stage_batch *batch = NULL;
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

static void open_simulation(struct kvc_dido_simulation *simulation)
{
    const struct kvc_dido_config *config = simulation->config;
    uint32_t rows = KVC_DIDO_BATCH_MAX + most_frame_requests(simulation);
    struct kvc_timeline *timeline = simulation->replica.context->timeline;
    for (uint32_t s = 0; s < simulation->workers; s++) {
        char name[32];
        snprintf(name, sizeof(name), "stage %u (%s)", s + 1, kvc_dido_device_of(simulation, s));
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

static void close_simulation(struct kvc_dido_simulation *simulation)
{
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
    kvc_replica_close(&simulation->replica);
    kvc_platform_free(simulation->platform);
    free(simulation);
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

/* A window is the time in which a batch passes through the pipeline. If the load alternates, it is a tenth of
 * the shortest phase, as in the paper (0.3 of 3 ms, dido.dyn.profile). */
double kvc_dido_window_ns(const struct kvc_scenario *scenario)
{
    const struct kvc_dido_config *config = kvc_dido_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    double shortest_ns = INFINITY;
    for (uint32_t i = 0; i < workload->phase_count; i++) {
        shortest_ns = fmin(shortest_ns, kvc_phases_length_ns(workload, i));
    }
    return workload->phase_count > 0
               ? shortest_ns / KVC_DIDO_WINDOWS_OF_PHASE
               : config->pipeline.stages * kvc_dido_interval_ns(config, &config->pipeline);
}

static enum kvc_status open_replica(struct kvc_dido_simulation *simulation,
                                    const struct kvc_run_context *context, struct kvc_diag *diag)
{
    const struct kvc_dido_config *config = simulation->config;
    struct kvc_replica_options options = {.platform = simulation->platform,
                                          .source = kvc_scenario_source(context->scenario, 1, context->seed),
                                          .window_ns = kvc_dido_window_ns(context->scenario)};
    options.source.frame_requests = config->frame_requests;
    options.source.phase_frame_requests = simulation->phase_frame_requests;
    enum kvc_status status = kvc_replica_open(&simulation->replica, context, &options, diag);
    simulation->replica.monitor.drained = drained;
    simulation->replica.monitor.count = kvc_dido_count;
    simulation->replica.monitor.data = simulation;
    return status;
}

enum kvc_status kvc_dido_run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    struct kvc_dido_simulation *simulation = calloc(1, sizeof(*simulation));
    if (simulation == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a simulation");
    }
    simulation->scenario = context->scenario;
    simulation->config = kvc_dido_config_of(context->scenario);
    simulation->store = context->state;
    simulation->workers = simulation->config->pipeline.stages;
    if (simulation->config->adapts && simulation->workers < KVC_DIDO_PLAN_STAGES_MAX) {
        simulation->workers = KVC_DIDO_PLAN_STAGES_MAX;
    }
    open_loads(simulation);
    simulation->platform = kvc_platform_create();
    simulation->machine = kvc_dido_machine_add(context->scenario, simulation->platform);
    enum kvc_status status = open_replica(simulation, context, diag);
    if (status == KVC_OK) {
        open_simulation(simulation);
        status = kvc_replica_run(&simulation->replica, true, diag);
    }
    if (status == KVC_OK) {
        kvc_dido_report(simulation, context->result);
        context->result->requests_simulated = simulation->replica.recorder.offered_in_all;
        context->result->preload_wall_s = simulation->store->preload_wall_s;
        kvc_replica_report(&simulation->replica);
    }
    close_simulation(simulation);
    return status;
}
