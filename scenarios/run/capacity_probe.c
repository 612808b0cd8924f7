#include "scenarios/run/capacity_probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/model.h"
#include "scenarios/run/capacity_load.h"
#include "scenarios/run/memory_plan.h"
#include "scenarios/run/pool.h"
#include "sim/base/seeds.h"
#include "sim/metrics/merge.h"

/* Part of the precision that a growing backlog may take. */
static const double growth_part = 0.25;

/* Tasks of a replica: the run that ends after the first half, and the whole one. */
enum { FIRST_HALF, WHOLE, PARTS };

/* The latency curve has more runs than most machines have processors. */
enum { TASKS_MANY = 1024 };

enum { REPLICAS_MAX = 1000 /* Limit of run.replicas. */ };

/* What a probe keeps of one replica. */
struct replica {
    double offered[PARTS], dropped[PARTS];
    double latency_sum_us[PARTS], latencies[PARTS]; /* Their sum and number. */
    double throughput_mops, simulated_s;
    double latency_us[KVC_CAPACITY_LATENCIES];
    double loss_frac, growth_frac;
    bool lossy, late, growing; /* Reasons for which it does not serve the load. */
};

/* One load while it is probed. */
struct trial {
    struct kvc_capacity_point *point;
    uint32_t factor;                    /* Measured time, relative to the scenario's. */
    uint32_t warmup_factor;             /* Warm-up, relative to the prober's. */
    struct kvc_scenario offered[PARTS]; /* They share one configuration, that of the whole run. */
    struct replica *replica;
    struct kvc_result *merged;
};

struct batch {
    struct kvc_capacity_prober *prober;
    struct trial **due; /* Trials that run at this length. */
    uint32_t due_count;
};

double kvc_capacity_growth_max(const struct kvc_capacity_bounds *bounds)
{
    return growth_part * bounds->precision_frac;
}

/* ---- simulation ---- */

static enum kvc_status simulate(const struct kvc_scenario *scenario, uint32_t replica,
                                const struct kvc_progress *progress, struct kvc_result *result,
                                struct kvc_diag *diag)
{
    const struct kvc_model *model = scenario->model;
    uint64_t seed = kvc_seed_of_replica(scenario->run.seed, replica);
    void *state = NULL;
    if (model->prepare != NULL) {
        enum kvc_status status = model->prepare(scenario, seed, &state, progress, diag);
        if (status != KVC_OK) {
            return status;
        }
    }
    const struct kvc_run_context context = {.scenario = scenario,
                                            .state = state,
                                            .seed = seed,
                                            .replica = replica,
                                            .progress = progress,
                                            .result = result};
    return model->run(&context, diag);
}

static const struct trial *trial_of(const struct batch *batch, uint32_t task, uint32_t *replica,
                                    uint32_t *part)
{
    *part = task % PARTS;
    *replica = task / PARTS % batch->prober->replicas;
    return batch->due[task / PARTS / batch->prober->replicas];
}

static enum kvc_status run_part(void *data, uint32_t task, const struct kvc_progress *progress, void *answer,
                                struct kvc_diag *diag)
{
    const struct batch *batch = data;
    uint32_t replica, part;
    const struct trial *trial = trial_of(batch, task, &replica, &part);
    return simulate(&trial->offered[part], replica, progress, answer, diag);
}

static void take_latencies(const struct kvc_histogram *histogram, double latency_us[KVC_CAPACITY_LATENCIES])
{
    static const double percentile[KVC_CAPACITY_LATENCIES] = {
        [KVC_CAPACITY_P50] = 0.5,
        [KVC_CAPACITY_P95] = 0.95,
        [KVC_CAPACITY_P99] = 0.99,
        [KVC_CAPACITY_P999] = 0.999,
    };
    for (int i = 0; i < KVC_CAPACITY_LATENCIES; i++) {
        double ns = i == KVC_CAPACITY_MEAN ? kvc_histogram_mean_ns(histogram)
                                           : kvc_histogram_percentile_ns(histogram, percentile[i]);
        latency_us[i] = ns * 1e-3;
    }
}

static enum kvc_status take_part(void *data, uint32_t task, const void *answer, struct kvc_diag *diag)
{
    const struct batch *batch = data;
    const struct kvc_result *result = answer;
    uint32_t number, part;
    const struct trial *trial = trial_of(batch, task, &number, &part);
    struct replica *replica = &trial->replica[number];
    replica->offered[part] = (double)result->offered;
    replica->dropped[part] = (double)result->dropped;
    replica->latency_sum_us[part] = result->latency.sum_ns * 1e-3;
    replica->latencies[part] = (double)result->latency.count;
    if (part == FIRST_HALF) {
        return KVC_OK;
    }
    if (replica->latencies[WHOLE] < replica->latencies[FIRST_HALF]) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                             "replica %u completed fewer requests than its first half alone", number);
    }
    replica->throughput_mops = result->throughput_mops;
    replica->simulated_s = result->simulated_s;
    take_latencies(&result->latency, replica->latency_us);
    kvc_result_merge(trial->merged, result, batch->prober->replicas);
    return KVC_OK;
}

/* ---- verdict ---- */

static void judge_replica(const struct kvc_capacity_bounds *bounds, struct replica *replica)
{
    double latencies = replica->latencies[WHOLE] - replica->latencies[FIRST_HALF];
    double offered = replica->offered[WHOLE] - replica->offered[FIRST_HALF];
    double dropped = replica->dropped[WHOLE] - replica->dropped[FIRST_HALF];
    double half_us = replica->simulated_s * 1e6 / 2;
    double first_us = replica->latency_sum_us[FIRST_HALF] / replica->latencies[FIRST_HALF];
    double second_us = (replica->latency_sum_us[WHOLE] - replica->latency_sum_us[FIRST_HALF]) / latencies;
    replica->loss_frac = offered > 0 ? dropped / offered : NAN;
    replica->growth_frac = (second_us - first_us) / half_us; /* NaN if a half completed nothing. */
    replica->lossy = !(replica->loss_frac <= bounds->loss_frac);
    replica->growing = !(replica->growth_frac <= kvc_capacity_growth_max(bounds));
    replica->late = bounds->bounds_latency && !(replica->latency_us[bounds->latency] <= bounds->latency_us);
}

static struct kvc_interval interval_over(const struct trial *trial, size_t offset)
{
    double values[REPLICAS_MAX];
    for (uint32_t i = 0; i < trial->point->replicas; i++) {
        values[i] = *(const double *)((const char *)&trial->replica[i] + offset);
    }
    return kvc_interval_of(values, trial->point->replicas);
}

static void judge(struct trial *trial, const struct kvc_capacity_bounds *bounds)
{
    struct kvc_capacity_point *point = trial->point;
    point->served_by = 0;
    for (uint32_t i = 0; i < point->replicas; i++) {
        struct replica *replica = &trial->replica[i];
        judge_replica(bounds, replica);
        point->served_by += !replica->lossy && !replica->growing && !replica->late;
    }
    point->served = 2 * point->served_by > point->replicas;
    point->loss_frac = interval_over(trial, offsetof(struct replica, loss_frac)).mean;
    point->growth_frac = interval_over(trial, offsetof(struct replica, growth_frac)).mean;
    point->throughput = interval_over(trial, offsetof(struct replica, throughput_mops));
    for (int i = 0; i < KVC_CAPACITY_LATENCIES; i++) {
        size_t offset = offsetof(struct replica, latency_us) + (size_t)i * sizeof(double);
        point->latency[i] = interval_over(trial, offset);
    }
    point->warmup_s = trial->offered[WHOLE].run.warmup_ns * 1e-9;
    point->duration_s = trial->offered[WHOLE].run.duration_ns * 1e-9;
    memcpy(point->bottleneck_stage, trial->merged->bottleneck_stage, sizeof(point->bottleneck_stage));
    memcpy(point->bottleneck_device, trial->merged->bottleneck_device, sizeof(point->bottleneck_device));
    memcpy(point->bottleneck_why, trial->merged->bottleneck_why, sizeof(point->bottleneck_why));
}

/* Returns whether all replicas serve the load, but their runs are short for its latency. */
static bool is_short(const struct kvc_capacity_point *point, const struct kvc_capacity_bounds *bounds)
{
    double needed_s = point->latency[KVC_CAPACITY_MEAN].mean * 1e-6 / bounds->precision_frac;
    return point->served_by == point->replicas && point->duration_s < needed_s;
}

/* Returns whether the replicas disagree, or chance may have decided on which side of the threshold the growth
 * of the backlog is. */
static bool is_disputed(const struct trial *trial, const struct kvc_capacity_bounds *bounds)
{
    const struct kvc_capacity_point *point = trial->point;
    double growth_max = kvc_capacity_growth_max(bounds), squares = 0;
    bool by_bounds = true; /* Every replica violates a bound, whether the backlog grows or not. */
    for (uint32_t i = 0; i < point->replicas; i++) {
        squares += pow(trial->replica[i].growth_frac - point->growth_frac, 2);
        by_bounds &= trial->replica[i].lossy || trial->replica[i].late;
    }
    double mean = point->growth_frac, error = 2 * sqrt(squares / (point->replicas - 1) / point->replicas);
    if (point->served_by == 0) {
        return !by_bounds && !(mean - error > growth_max);
    }
    return point->served_by < point->replicas || !(mean + error <= growth_max);
}

/* Prolongs the trial if that could change its verdict. Returns whether it did. */
static bool prolong(struct kvc_capacity_prober *prober, struct trial *trial)
{
    bool disputed = is_disputed(trial, prober->bounds), too_short = is_short(trial->point, prober->bounds);
    if (trial->factor >= prober->longest || trial->offered[WHOLE].workload.arrival == KVC_ARRIVAL_CURVE ||
        !(disputed || too_short)) {
        return false;
    }
    trial->factor *= 2;
    if (disputed) {
        trial->warmup_factor *= 2;
    } else { /* Later probes will be short, too. */
        prober->factor = trial->factor;
    }
    return true;
}

/* ---- batches ---- */

static void close_trial(struct trial *trial)
{
    kvc_scenario_unresolve(&trial->offered[WHOLE]);
    free(trial->replica);
    free(trial->merged);
    *trial = (struct trial){0};
}

static enum kvc_status open_trial(const struct kvc_capacity_prober *prober, struct trial *trial,
                                  struct kvc_diag *diag)
{
    struct kvc_scenario *whole = &trial->offered[WHOLE], *half = &trial->offered[FIRST_HALF];
    trial->factor = prober->factor;
    trial->warmup_factor = 1;
    trial->point->replicas = prober->replicas;
    enum kvc_status status = kvc_capacity_offer(prober->scenario, trial->point->offered_mops, whole, diag);
    if (status != KVC_OK) {
        return status;
    }
    *half = *whole;
    trial->replica = calloc(prober->replicas, sizeof(*trial->replica));
    trial->merged = malloc(sizeof(*trial->merged));
    if (trial->replica == NULL || trial->merged == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a probe");
    }
    return KVC_OK;
}

static void set_length(const struct kvc_capacity_prober *prober, struct trial *trial)
{
    for (int part = 0; part < PARTS; part++) {
        struct kvc_run *run = &trial->offered[part].run;
        run->warmup_ns = prober->warmup_ns * trial->warmup_factor;
        run->duration_ns = prober->scenario->run.duration_ns * trial->factor * (part == WHOLE ? 1 : 0.5);
    }
    memset(trial->merged, 0, sizeof(*trial->merged));
}

/* Runs all trials that are due, judges them, and keeps those due that need a longer run. */
static enum kvc_status run_due(struct batch *batch, const struct kvc_progress *progress,
                               struct kvc_diag *diag)
{
    struct kvc_capacity_prober *prober = batch->prober;
    const struct kvc_pool_options pool = {
        .tasks = batch->due_count * prober->replicas * PARTS,
        .jobs = prober->jobs,
        .answer_bytes = sizeof(struct kvc_result),
        .noun = "run",
        .data = batch,
        .body = run_part,
        .take = take_part,
    };
    for (uint32_t i = 0; i < batch->due_count; i++) {
        set_length(prober, batch->due[i]);
    }
    enum kvc_status status = kvc_pool_run(&pool, progress, diag);
    uint32_t open = 0;
    for (uint32_t i = 0; i < batch->due_count && status == KVC_OK; i++) {
        struct trial *trial = batch->due[i];
        judge(trial, prober->bounds);
        if (prolong(prober, trial)) {
            batch->due[open++] = trial;
        }
    }
    batch->due_count = open;
    return status;
}

enum kvc_status kvc_capacity_probe(struct kvc_capacity_prober *prober, struct kvc_capacity_point *points,
                                   uint32_t count, const struct kvc_progress *progress, struct kvc_diag *diag)
{
    struct trial *trials = calloc(count + 1, sizeof(*trials));
    struct trial **due = calloc(count + 1, sizeof(*due));
    struct batch batch = {.prober = prober, .due = due, .due_count = count};
    enum kvc_status status = trials != NULL && due != NULL
                                 ? KVC_OK
                                 : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %u probes", count);
    for (uint32_t i = 0; i < count && status == KVC_OK; i++) {
        due[i] = &trials[i];
        trials[i].point = &points[i];
        status = open_trial(prober, &trials[i], diag);
    }
    while (status == KVC_OK && batch.due_count > 0) {
        status = run_due(&batch, progress, diag);
    }
    for (uint32_t i = 0; i < count && trials != NULL; i++) {
        close_trial(&trials[i]);
    }
    free(trials);
    free(due);
    return status;
}

/* ---- opening ---- */

struct warmup {
    struct kvc_capacity_prober *prober;
    const struct kvc_scenario *offered;
};

static enum kvc_status run_warmup(void *data, uint32_t task, const struct kvc_progress *progress,
                                  void *answer, struct kvc_diag *diag)
{
    const struct warmup *warmup = data;
    return simulate(warmup->offered, task, progress, answer, diag);
}

static enum kvc_status take_warmup(void *data, uint32_t task, const void *answer, struct kvc_diag *diag)
{
    const struct warmup *warmup = data;
    const struct kvc_result *result = answer;
    (void)task;
    (void)diag;
    warmup->prober->warmup_ns = result->warmup_s * 1e9;
    return KVC_OK;
}

/* Sets the warm-up to the scenario's, or to the one that is detected at this load. */
static enum kvc_status settle_warmup(struct kvc_capacity_prober *prober, double rate_mops,
                                     const struct kvc_progress *progress, struct kvc_diag *diag)
{
    static const double measured_frac = 0.1; /* The measured time does not matter here. */
    struct kvc_scenario offered;
    struct warmup warmup = {.prober = prober, .offered = &offered};
    const struct kvc_pool_options pool = {
        .tasks = 1,
        .jobs = 1,
        .answer_bytes = sizeof(struct kvc_result),
        .noun = "warm-up",
        .data = &warmup,
        .body = run_warmup,
        .take = take_warmup,
    };
    prober->warmup_ns = prober->scenario->run.warmup_ns;
    if (prober->warmup_ns >= 0) {
        return KVC_OK;
    }
    enum kvc_status status = kvc_capacity_offer(prober->scenario, rate_mops, &offered, diag);
    if (status == KVC_OK) {
        offered.run.duration_ns *= measured_frac;
        status = kvc_pool_run(&pool, progress, diag);
        kvc_scenario_unresolve(&offered);
    }
    return status;
}

enum kvc_status kvc_capacity_prober_open(struct kvc_capacity_prober *prober, double first_mops,
                                         const struct kvc_progress *progress, struct kvc_diag *diag)
{
    const struct kvc_scenario *scenario = prober->scenario;
    uint32_t replicas = (uint32_t)scenario->run.replicas;
    prober->factor = 1;
    prober->replicas = replicas > KVC_CAPACITY_REPLICAS_MIN ? replicas : KVC_CAPACITY_REPLICAS_MIN;
    enum kvc_status status =
        kvc_memory_plan(kvc_scenario_memory_bytes(scenario), kvc_memory_available_bytes(), TASKS_MANY,
                        prober->jobs, kvc_pool_processors(), &prober->jobs, diag);
    return status == KVC_OK ? settle_warmup(prober, first_mops / 2, progress, diag) : status;
}
