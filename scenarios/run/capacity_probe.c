#include "scenarios/run/capacity_probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/model.h"
#include "scenarios/load/lua/locate.h"
#include "scenarios/run/limits.h"
#include "scenarios/run/pool.h"
#include "sim/base/array.h"
#include "sim/base/seeds.h"
#include "sim/metrics/merge.h"
#include "sim/workload/rates.h"

const double kvc_capacity_rate_max_mops = 1e6;

static const double rate_min_mops = 1e-6;

/* Share by which the closed form's throughput may stay below the load because of rounding. */
static const double rounding_frac = 1e-6;

static bool comes_from_set(const struct kvc_parameters *parameters, const char *path)
{
    for (uint32_t i = 0; i < parameters->count; i++) {
        const struct kvc_parameter *parameter = &parameters->entry[i];
        if (strncmp(parameter->path, path, strlen(path)) == 0 && strcmp(parameter->source, "--set") == 0) {
            return true;
        }
    }
    return false;
}

/* Fails with the place where the user wrote `path`. */
static enum kvc_status refuse(const struct kvc_loaded *loaded, const char *path, struct kvc_diag *diag,
                              const char *message)
{
    const char *file = loaded->scenario.file;
    bool set = comes_from_set(&loaded->parameters, path);
    return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, set ? "--set" : file,
                            set ? 0 : kvc_locate_line(file, path), "%s: %s", path, message);
}

enum kvc_status kvc_capacity_check(const struct kvc_loaded *loaded, struct kvc_diag *diag)
{
    static const char allowed[] =
        "whose rate cannot be chosen; a capacity search allows \"saturate\" (replaced "
        "by Poisson), poisson_mops, fixed_mops, curve, bursts and mmpp";
    int arrival = loaded->scenario.workload.arrival;
    if (arrival == KVC_ARRIVAL_CLOSED || arrival == KVC_ARRIVAL_TRACE) {
        char message[256];
        snprintf(message, sizeof(message), "found %s, %s",
                 arrival == KVC_ARRIVAL_CLOSED ? "clients" : "a trace", allowed);
        return refuse(loaded, "workload.arrival", diag, message);
    }
    if (loaded->scenario.run.change_count > 0) {
        return refuse(loaded, "run.changes", diag,
                      "found changes of devices during the run, which a capacity search does not allow: it "
                      "compares the halves of a run, whose length it chooses");
    }
    return KVC_OK;
}

static void set_rate(struct kvc_workload *workload, double rate_mops)
{
    if (kvc_workload_rate_changes(workload)) {
        kvc_workload_scale_rates(workload, rate_mops / kvc_workload_rate_max_mops(workload));
        return;
    }
    if (workload->arrival == KVC_ARRIVAL_SATURATE) {
        workload->arrival = KVC_ARRIVAL_POISSON;
    }
    workload->rate_mops = rate_mops;
}

/* Copies the scenario, sets the rate and resolves the copy, which shares options and devices with the
 * original. The caller releases it with kvc_scenario_unresolve(). After an error there is nothing to release.
 */
static enum kvc_status offer(const struct kvc_scenario *scenario, double rate_mops,
                             struct kvc_scenario *offered, struct kvc_diag *diag)
{
    const struct kvc_model *model = scenario->model;
    *offered = *scenario;
    offered->config = NULL; /* The original keeps its own. */
    set_rate(&offered->workload, rate_mops);
    enum kvc_status status = kvc_scenario_resolve(offered, diag);
    if (status == KVC_OK && model->check != NULL) {
        status = model->check(offered, diag);
    }
    if (status != KVC_OK) {
        kvc_scenario_unresolve(offered);
    }
    return status;
}

enum kvc_status kvc_capacity_predict(const struct kvc_scenario *scenario, struct kvc_capacity_point *point,
                                     struct kvc_diag *diag)
{
    struct kvc_scenario offered;
    struct kvc_result *result = calloc(1, sizeof(*result));
    if (result == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the result");
    }
    enum kvc_status status = offer(scenario, point->offered_mops, &offered, diag);
    if (status == KVC_OK) {
        status = kvc_scenario_predict(&offered, result, diag);
        kvc_scenario_unresolve(&offered);
    }
    if (status == KVC_OK) {
        point->closed_form.throughput_mops = result->throughput_mops;
        const struct kvc_latencies *latency = &result->predicted;
        point->closed_form.latency_us[KVC_CAPACITY_MEAN] = latency->mean_us;
        point->closed_form.latency_us[KVC_CAPACITY_P50] = latency->p50_us;
        point->closed_form.latency_us[KVC_CAPACITY_P95] = latency->p95_us;
        point->closed_form.latency_us[KVC_CAPACITY_P99] = latency->p99_us;
        point->closed_form.latency_us[KVC_CAPACITY_P999] = latency->p999_us;
        for (int i = KVC_CAPACITY_TENANT; i < KVC_CAPACITY_VALUES; i++) {
            point->closed_form.latency_us[i] = NAN; /* It does not tell tenants apart. */
        }
    }
    free(result);
    return status;
}

/* One search along the closed form. */
struct closed_form {
    const struct kvc_scenario *scenario;
    const struct kvc_capacity_bounds *bounds;
    bool with_latency;
};

static enum kvc_status serves(const struct closed_form *form, double rate_mops, bool *served,
                              struct kvc_diag *diag)
{
    struct kvc_capacity_point point = {.offered_mops = rate_mops};
    enum kvc_status status = kvc_capacity_predict(form->scenario, &point, diag);
    *served = status == KVC_OK &&
              point.closed_form.throughput_mops >=
                  rate_mops * (1 - form->bounds->loss_frac) * (1 - rounding_frac) &&
              (!form->with_latency ||
               point.closed_form.latency_us[form->bounds->latency] <= form->bounds->latency_us);
    return status;
}

/* Bisects between a load that is served and one that is not. */
static enum kvc_status bisect(const struct closed_form *form, double low, double high, double *limit_mops,
                              struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    while (status == KVC_OK && high - low > 1e-5 * high) {
        double middle = (low + high) / 2;
        bool served;
        status = serves(form, middle, &served, diag);
        if (served) {
            low = middle;
        } else {
            high = middle;
        }
    }
    *limit_mops = low;
    return status;
}

/* Doubles or halves from 1 Mops until the limit is bracketed, and then bisects. */
static enum kvc_status find_limit(const struct closed_form *form, double *limit_mops, struct kvc_diag *diag)
{
    double low = 1, high = 1;
    bool served;
    *limit_mops = NAN;
    enum kvc_status status = serves(form, low, &served, diag);
    bool upwards = served;
    while (status == KVC_OK && served == upwards) {
        if (upwards) {
            low = high;
            high *= 2;
        } else {
            high = low;
            low /= 2;
        }
        if (high > kvc_capacity_rate_max_mops || low < rate_min_mops) {
            return KVC_OK;
        }
        status = serves(form, upwards ? high : low, &served, diag);
    }
    return status == KVC_OK ? bisect(form, low, high, limit_mops, diag) : status;
}

/* Walks down from the limit until the latency bound is met, and then bisects. The steps are small, because
 * the bound may be violated at low loads, too, where clients wait to fill a packet. */
static enum kvc_status find_bounded(const struct closed_form *form, double limit_mops, double *bounded_mops,
                                    struct kvc_diag *diag)
{
    static const double step = 0.9, lowest_share = 1e-3;
    double mops = limit_mops;
    bool served = false;
    enum kvc_status status = KVC_OK;
    *bounded_mops = NAN;
    while (status == KVC_OK && !served && mops >= lowest_share * limit_mops) {
        status = serves(form, mops, &served, diag);
        mops = served ? mops : mops * step;
    }
    if (status != KVC_OK || !served || mops == limit_mops) {
        *bounded_mops = served ? limit_mops : NAN;
        return status;
    }
    return bisect(form, mops, mops / step, bounded_mops, diag);
}

enum kvc_status kvc_capacity_find_closed_form(const struct kvc_scenario *scenario,
                                              struct kvc_capacity *capacity, struct kvc_diag *diag)
{
    struct closed_form form = {.scenario = scenario, .bounds = &capacity->bounds};
    enum kvc_status status = find_limit(&form, &capacity->closed_form_limit_mops, diag);
    capacity->closed_form_mops = capacity->closed_form_limit_mops;
    if (status == KVC_OK && capacity->bounds.bounds_latency) {
        form.with_latency = true;
        status = find_bounded(&form, capacity->closed_form_limit_mops, &capacity->closed_form_mops, diag);
    }
    return status;
}

/* Part of the precision that a growing backlog may take. */
static const double growth_part = 0.25;

/* Halves of the measured time. */
enum { FIRST_HALF, SECOND_HALF, HALVES };

/* The latency curve has more runs than most machines have processors. */
enum { TASKS_MANY = 1024 };

enum { REPLICAS_MAX = 1000 /* Limit of run.replicas. */ };

/* Values of one replica that a probe keeps. */
struct replica {
    double throughput_mops;
    double latency_us[KVC_CAPACITY_VALUES];
    double loss_frac, growth_frac; /* By the halves of the measured time. */
    double unserved_frac;          /* Share of the load that a run of this length says is not served. */
    bool lossy, late, growing;     /* Reasons for which it does not serve the load. */
    bool serves;                   /* None of them. */
};

/* One run of a replica, as its keeper needs to know it. */
struct order {
    double offered_mops, warmup_ns, duration_ns;
};

/* One load while it is probed. */
struct trial {
    struct kvc_capacity_point *point;
    struct kvc_scenario offered;
    struct order order; /* The same load and times. */
    struct replica *replica;
    struct kvc_result *merged;
    bool judged, confirmed; /* By one run; by two runs that found the same of every replica. */
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

static enum kvc_status simulate(const struct kvc_scenario *scenario, uint32_t replica, void *state,
                                const struct kvc_progress *progress, struct kvc_result *result,
                                struct kvc_diag *diag)
{
    const struct kvc_run_context context = {.scenario = scenario,
                                            .state = state,
                                            .seed = kvc_seed_of_replica(scenario->run.seed, replica),
                                            .replica = replica,
                                            .progress = progress,
                                            .result = result};
    return scenario->model->run(&context, diag);
}

static enum kvc_status prepare_and_simulate(const struct kvc_scenario *scenario, uint32_t replica,
                                            const struct kvc_progress *progress, struct kvc_result *result,
                                            struct kvc_diag *diag)
{
    void *state = NULL;
    enum kvc_status status = kvc_scenario_prepare(scenario, replica, &state, progress, diag);
    return status == KVC_OK ? simulate(scenario, replica, state, progress, result, diag) : status;
}

static const struct trial *trial_of(const struct batch *batch, uint32_t task, uint32_t *replica)
{
    *replica = task % batch->prober->replicas;
    return batch->due[task / batch->prober->replicas];
}

static enum kvc_status run_replica(void *data, uint32_t task, const struct kvc_progress *progress,
                                   void *answer, struct kvc_diag *diag)
{
    const struct batch *batch = data;
    uint32_t replica;
    const struct trial *trial = trial_of(batch, task, &replica);
    return prepare_and_simulate(&trial->offered, replica, progress, answer, diag);
}

static const void *order_of(const void *data, uint32_t task, uint32_t *replica)
{
    return &trial_of(data, task, replica)->order;
}

/* Prepares a replica's store in its keeper. The store may refer to the configuration, which the keeper
 * therefore never frees. */
static enum kvc_status keep_store(void *data, uint32_t replica, void **state,
                                  const struct kvc_progress *progress, struct kvc_diag *diag)
{
    const struct kvc_capacity_prober *prober = data;
    struct kvc_scenario *offered = kvc_array_of(1, sizeof(*offered));
    enum kvc_status status = offer(prober->scenario, prober->first_mops, offered, diag);
    return status == KVC_OK ? kvc_scenario_prepare(offered, replica, state, progress, diag) : status;
}

static enum kvc_status run_order(void *data, uint32_t replica, void *state, const void *words,
                                 const struct kvc_progress *progress, void *answer, struct kvc_diag *diag)
{
    const struct kvc_capacity_prober *prober = data;
    const struct order *order = words;
    struct kvc_scenario offered;
    enum kvc_status status = offer(prober->scenario, order->offered_mops, &offered, diag);
    if (status != KVC_OK) {
        return status;
    }
    offered.run.warmup_ns = order->warmup_ns;
    offered.run.duration_ns = order->duration_ns;
    return simulate(&offered, replica, state, progress, answer, diag);
}

static void take_latencies(const struct kvc_result *result, double latency_us[KVC_CAPACITY_VALUES])
{
    static const double percentile[KVC_CAPACITY_LATENCIES] = {
        [KVC_CAPACITY_P50] = 0.5,
        [KVC_CAPACITY_P95] = 0.95,
        [KVC_CAPACITY_P99] = 0.99,
        [KVC_CAPACITY_P999] = 0.999,
    };
    const struct kvc_histogram *histogram = &result->latency;
    for (int i = 0; i < KVC_CAPACITY_LATENCIES; i++) {
        double ns = i == KVC_CAPACITY_MEAN ? kvc_histogram_mean_ns(histogram)
                                           : kvc_histogram_percentile_ns(histogram, percentile[i]);
        latency_us[i] = ns * 1e-3;
    }
    for (uint32_t i = 0; i < KVC_TENANTS_MAX; i++) {
        latency_us[KVC_CAPACITY_TENANT + i] =
            i < result->tenant_count ? result->tenant[i].latency.p99_us : NAN;
    }
}

static const struct kvc_batch_means *means_of(const struct kvc_result *result, const char *name)
{
    for (uint32_t i = 0; i < result->batch_means_count; i++) {
        if (strcmp(result->batch_means[i].name, name) == 0) {
            return &result->batch_means[i];
        }
    }
    return NULL;
}

/* Returns the mean of a value over one half of the batches, weighted by a rate. The middle batch of an odd
 * number belongs to neither half. Batches without a rate do not count: NaN if none has one. */
static double mean_of_half(const struct kvc_result *result, const char *value, const char *rate, int half)
{
    const struct kvc_batch_means *values = means_of(result, value), *rates = means_of(result, rate);
    double sum = 0, weights = 0;
    if (values == NULL || rates == NULL) {
        return NAN;
    }
    uint32_t length = values->count / 2, first = half == FIRST_HALF ? 0 : values->count - length;
    for (uint32_t i = first; i < first + length; i++) {
        if (rates->mean[i] > 0) {
            sum += values->mean[i] * rates->mean[i];
            weights += rates->mean[i];
        }
    }
    return sum / weights;
}

/* Compares the halves of the measured time. */
static enum kvc_status take_halves(const struct kvc_result *result, struct replica *replica,
                                   struct kvc_diag *diag)
{
    const struct kvc_batch_means *latencies = means_of(result, "latency_mean_us");
    uint32_t batches = latencies != NULL ? latencies->count : 0;
    double latency_us[HALVES];
    if (batches < HALVES) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "run.duration: found %g us, too short for a capacity search, which compares the "
                             "halves of the measured time: allowed are at least two windows",
                             result->simulated_s * 1e6);
    }
    for (int half = 0; half < HALVES; half++) {
        latency_us[half] = mean_of_half(result, "latency_mean_us", "throughput_mops", half);
    }
    double apart_us = (batches - batches / 2) * result->batch_s * 1e6; /* The middles of the halves. */
    replica->growth_frac = (latency_us[SECOND_HALF] - latency_us[FIRST_HALF]) / apart_us;
    replica->loss_frac = mean_of_half(result, "lost_frac", "offered_mops", SECOND_HALF);
    return KVC_OK;
}

static enum kvc_status take_replica(void *data, uint32_t task, const void *answer, struct kvc_diag *diag)
{
    const struct batch *batch = data;
    const struct kvc_result *result = answer;
    uint32_t number;
    const struct trial *trial = trial_of(batch, task, &number);
    struct replica *replica = &trial->replica[number];
    replica->throughput_mops = result->throughput_mops;
    replica->unserved_frac =
        kvc_unserved_frac((double)result->dropped / (double)result->offered, result->growth_frac);
    take_latencies(result, replica->latency_us);
    kvc_result_merge(trial->merged, result, batch->prober->replicas);
    return take_halves(result, replica, diag);
}

/* ---- verdict ---- */

static void judge_replica(const struct kvc_capacity_bounds *bounds, struct replica *replica)
{
    replica->lossy =
        !(replica->loss_frac <= bounds->loss_frac && replica->unserved_frac <= bounds->loss_frac);
    replica->growing = !(replica->growth_frac <= kvc_capacity_growth_max(bounds)); /* NaN: no answers. */
    replica->late = bounds->bounds_latency && !(replica->latency_us[bounds->latency] <= bounds->latency_us);
    replica->serves = !replica->lossy && !replica->growing && !replica->late;
}

static struct kvc_interval interval_over(const struct trial *trial, size_t offset)
{
    double values[REPLICAS_MAX];
    for (uint32_t i = 0; i < trial->point->replicas; i++) {
        values[i] = *(const double *)((const char *)&trial->replica[i] + offset);
    }
    return kvc_interval_of(values, trial->point->replicas);
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

static void judge(struct trial *trial, const struct kvc_capacity_bounds *bounds)
{
    struct kvc_capacity_point *point = trial->point;
    point->served_by = 0;
    trial->confirmed = trial->judged;
    trial->judged = true;
    for (uint32_t i = 0; i < point->replicas; i++) {
        struct replica *replica = &trial->replica[i];
        bool served = replica->serves;
        judge_replica(bounds, replica);
        trial->confirmed &= replica->serves == served;
        point->served_by += replica->serves;
    }
    point->served = 2 * point->served_by > point->replicas;
    point->loss_frac = interval_over(trial, offsetof(struct replica, loss_frac)).mean;
    point->growth_frac = interval_over(trial, offsetof(struct replica, growth_frac)).mean;
    point->unserved_frac = interval_over(trial, offsetof(struct replica, unserved_frac)).mean;
    point->throughput = interval_over(trial, offsetof(struct replica, throughput_mops));
    for (int i = 0; i < KVC_CAPACITY_VALUES; i++) {
        size_t offset = offsetof(struct replica, latency_us) + (size_t)i * sizeof(double);
        point->latency[i] = interval_over(trial, offset);
    }
    point->disputed = !trial->confirmed && is_disputed(trial, bounds);
    point->warmup_ns = trial->offered.run.warmup_ns;
    point->duration_ns = trial->offered.run.duration_ns;
    memcpy(point->bottleneck_stage, trial->merged->bottleneck_stage, sizeof(point->bottleneck_stage));
    memcpy(point->bottleneck_device, trial->merged->bottleneck_device, sizeof(point->bottleneck_device));
    memcpy(point->bottleneck_why, trial->merged->bottleneck_why, sizeof(point->bottleneck_why));
}

/* Returns the longest measured time of a probe. A rate that changes and storms have their own time. */
static double longest_ns(const struct kvc_capacity_prober *prober)
{
    const struct kvc_workload *workload = &prober->scenario->workload;
    bool has_own = kvc_workload_rate_changes(workload) || workload->storm_count > 0;
    return prober->scenario->run.duration_ns * (has_own ? 1 : prober->longest);
}

bool kvc_capacity_can_prolong(const struct kvc_capacity_prober *prober,
                              const struct kvc_capacity_point *point)
{
    return point->disputed && point->duration_ns < longest_ns(prober);
}

/* Returns whether some replica violates a bound, as others may do later. */
static bool violates_bound(const struct trial *trial)
{
    bool violates = false;
    for (uint32_t i = 0; i < trial->point->replicas; i++) {
        violates |= trial->replica[i].lossy || trial->replica[i].late;
    }
    return violates;
}

/* Returns whether all replicas serve the load, but their runs are short for its latency. */
static bool is_short(const struct kvc_capacity_point *point, const struct kvc_capacity_bounds *bounds)
{
    double needed_ns = point->latency[KVC_CAPACITY_MEAN].mean * 1e3 / bounds->precision_frac;
    return point->served_by == point->replicas && point->duration_ns < needed_ns;
}

/* Prolongs the trial if its verdict needs that. Returns whether it did. */
static bool goes_on(struct kvc_capacity_prober *prober, struct trial *trial)
{
    struct kvc_run *run = &trial->offered.run;
    if ((prober->settles || violates_bound(trial)) && kvc_capacity_can_prolong(prober, trial->point)) {
        run->warmup_ns *= 2;
    } else if (is_short(trial->point, prober->bounds) && run->duration_ns < longest_ns(prober)) {
        prober->duration_ns = 2 * run->duration_ns; /* Later probes would also be short. */
    } else {
        return false;
    }
    run->duration_ns *= 2;
    return true;
}

/* ---- batches ---- */

static void close_trial(struct trial *trial)
{
    kvc_scenario_unresolve(&trial->offered);
    free(trial->replica);
    free(trial->merged);
    *trial = (struct trial){0};
}

static enum kvc_status open_trial(const struct kvc_capacity_prober *prober, struct trial *trial,
                                  struct kvc_diag *diag)
{
    struct kvc_capacity_point *point = trial->point;
    struct kvc_run *run = &trial->offered.run;
    enum kvc_status status = offer(prober->scenario, point->offered_mops, &trial->offered, diag);
    if (status != KVC_OK) {
        return status;
    }
    if (point->duration_ns > 0) {
        run->warmup_ns = 2 * point->warmup_ns;
        run->duration_ns = 2 * point->duration_ns;
    } else {
        run->warmup_ns = point->offered_mops < prober->served_mops ? prober->steady_ns : prober->warmup_ns;
        run->duration_ns = prober->duration_ns;
    }
    point->replicas = prober->replicas;
    trial->replica = calloc(prober->replicas, sizeof(*trial->replica));
    trial->merged = malloc(sizeof(*trial->merged));
    if (trial->replica == NULL || trial->merged == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a probe");
    }
    return KVC_OK;
}

/* Runs all trials that are due, judges them, and keeps those due that need a longer run. */
static enum kvc_status run_due(struct batch *batch, const struct kvc_progress *progress,
                               struct kvc_diag *diag)
{
    struct kvc_capacity_prober *prober = batch->prober;
    const struct kvc_pool_options pool = {
        .tasks = batch->due_count * prober->replicas,
        .jobs = prober->jobs,
        .answer_bytes = sizeof(struct kvc_result),
        .noun = "replica",
        .data = batch,
        .body = run_replica,
        .keepers = prober->keepers,
        .order = order_of,
        .take = take_replica,
    };
    for (uint32_t i = 0; i < batch->due_count; i++) {
        struct trial *trial = batch->due[i];
        const struct kvc_run *run = &trial->offered.run;
        trial->order = (struct order){trial->point->offered_mops, run->warmup_ns, run->duration_ns};
        memset(trial->merged, 0, sizeof(*trial->merged));
    }
    enum kvc_status status = kvc_pool_run(&pool, progress, diag);
    uint32_t open = 0;
    for (uint32_t i = 0; i < batch->due_count && status == KVC_OK; i++) {
        struct trial *trial = batch->due[i];
        judge(trial, prober->bounds);
        if (goes_on(prober, trial)) {
            batch->due[open++] = trial;
        } else if (trial->point->served_by == trial->point->replicas) {
            prober->served_mops = fmax(prober->served_mops, trial->point->offered_mops);
        }
    }
    batch->due_count = open;
    return status;
}

enum kvc_status kvc_capacity_probe(struct kvc_capacity_prober *prober, struct kvc_capacity_point **points,
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
        trials[i].point = points[i];
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
    return prepare_and_simulate(warmup->offered, task, progress, answer, diag);
}

/* Takes the warm-up, and the latency at a low load, for which probes at higher ones must at least be long
 * enough. */
static enum kvc_status take_warmup(void *data, uint32_t task, const void *answer, struct kvc_diag *diag)
{
    const struct warmup *warmup = data;
    const struct kvc_result *result = answer;
    struct kvc_capacity_prober *prober = warmup->prober;
    double needed_ns = kvc_histogram_mean_ns(&result->latency) / prober->bounds->precision_frac;
    (void)task;
    (void)diag;
    prober->warmup_ns = result->warmup_s * 1e9;
    prober->steady_ns = result->steady_s * 1e9;
    while (prober->duration_ns < longest_ns(prober) && prober->duration_ns < needed_ns) {
        prober->duration_ns *= 2;
    }
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
    prober->warmup_ns = prober->steady_ns = prober->scenario->run.warmup_ns;
    if (prober->warmup_ns >= 0) {
        return KVC_OK;
    }
    enum kvc_status status = offer(prober->scenario, rate_mops, &offered, diag);
    if (status == KVC_OK) {
        offered.run.duration_ns *= measured_frac;
        status = kvc_pool_run(&pool, progress, diag);
        kvc_scenario_unresolve(&offered);
    }
    return status;
}

/* Creates the keepers if their stores fit into memory beside the runs. */
static void open_keepers(struct kvc_capacity_prober *prober, double needed_bytes, double available_bytes)
{
    const struct kvc_keepers_options options = {
        .keepers = prober->replicas,
        .order_bytes = sizeof(struct order),
        .answer_bytes = sizeof(struct kvc_result),
        .data = prober,
        .prepare = keep_store,
        .body = run_order,
    };
    bool fits = available_bytes <= 0 || (prober->replicas + prober->jobs) * needed_bytes <= available_bytes;
    if (fits && prober->scenario->model->prepare != NULL) {
        prober->keepers = kvc_keepers_create(&options);
    }
}

enum kvc_status kvc_capacity_prober_open(struct kvc_capacity_prober *prober, double first_mops,
                                         const struct kvc_progress *progress, struct kvc_diag *diag)
{
    const struct kvc_scenario *scenario = prober->scenario;
    uint32_t replicas = (uint32_t)scenario->run.replicas;
    double needed_bytes = kvc_memory_needed_bytes(scenario), available_bytes = kvc_memory_available_bytes();
    prober->duration_ns = scenario->run.duration_ns;
    prober->served_mops = 0;
    prober->settles = false;
    prober->first_mops = first_mops;
    prober->replicas = replicas > KVC_CAPACITY_REPLICAS_MIN ? replicas : KVC_CAPACITY_REPLICAS_MIN;
    enum kvc_status status = kvc_memory_plan(needed_bytes, available_bytes, TASKS_MANY, prober->jobs,
                                             kvc_pool_processors(), &prober->jobs, diag);
    if (status != KVC_OK) {
        return status;
    }
    open_keepers(prober, needed_bytes, available_bytes);
    return settle_warmup(prober, first_mops / 2, progress, diag);
}

void kvc_capacity_prober_close(struct kvc_capacity_prober *prober)
{
    kvc_keepers_free(prober->keepers);
    prober->keepers = NULL;
}
