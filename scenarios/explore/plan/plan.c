#include "scenarios/explore/plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/model.h"
#include "scenarios/explore/evaluator.h"
#include "scenarios/explore/plan/goal.h"
#include "scenarios/load/lua/locate.h"
#include "scenarios/output/windows.h"
#include "scenarios/run/capacity.h"
#include "scenarios/run/driver.h"
#include "scenarios/run/gain.h"
#include "scenarios/run/limits.h"
#include "scenarios/run/pool.h"
#include "sim/base/array.h"
#include "sim/base/files/data_dir.h"
#include "sim/base/seeds.h"

/* Returns the line of a path in the scenario, or the line of its return statement. */
static int line_of(const struct kvc_plan_options *options, const char *path)
{
    int line = kvc_locate_line(options->path, path);
    return line > 0 ? line : kvc_locate_line(options->path, "");
}

static void add_named(struct kvc_planned *planned, enum kvc_plan_metric metric, const char *name,
                      double bound, bool at_least)
{
    struct kvc_plan_goal *goal = &planned->goal[planned->goal_count];
    if (!isnan(bound)) {
        *goal = (struct kvc_plan_goal){.metric = metric, .bound = bound, .at_least = at_least};
        snprintf(goal->name, sizeof(goal->name), "%s", name);
        planned->goal_count++;
    }
}

static void add_goal(struct kvc_planned *planned, enum kvc_plan_metric metric, double bound, bool at_least)
{
    add_named(planned, metric, kvc_plan_metric_names[metric], bound, at_least);
}

static void set_goals(const struct kvc_loaded *loaded, struct kvc_planned *planned)
{
    const struct kvc_slo *slo = &loaded->slo;
    bool judges_windows = kvc_slo_bounds_windows(slo) && kvc_scenario_judged(&loaded->scenario).length_ns > 0;
    planned->goal_count = 0;
    add_goal(planned, KVC_PLAN_P50_US, slo->p50_ns / 1e3, false);
    add_goal(planned, KVC_PLAN_P95_US, slo->p95_ns / 1e3, false);
    add_goal(planned, KVC_PLAN_P99_US, slo->p99_ns / 1e3, false);
    add_goal(planned, KVC_PLAN_P999_US, slo->p999_ns / 1e3, false);
    add_goal(planned, KVC_PLAN_MOPS, slo->mops, true);
    add_goal(planned, KVC_PLAN_SERVED_FRAC, 1 - (isnan(slo->loss_frac) ? 0 : slo->loss_frac), true);
    add_goal(planned, KVC_PLAN_HIT_FRAC, slo->hit_frac, true);
    add_goal(planned, KVC_PLAN_WINDOW_FRAC, judges_windows ? 1 : NAN, true);
    add_goal(planned, KVC_PLAN_WATTS, slo->watts, false);
    add_goal(planned, KVC_PLAN_PRICE_USD, slo->price_usd, false);
    for (uint32_t i = 0; i < kvc_slo_tenants(slo); i++) {
        char name[KVC_TENANT_NAME_MAX];
        kvc_tenant_value_name(slo->workload->tenants[i].name, "latency_p99_us", name);
        add_named(planned, KVC_PLAN_TENANT_US + i, name, kvc_slo_tenant_us(slo, i), false);
    }
}

static enum kvc_status check_load(const struct kvc_plan_options *options, struct kvc_diag *diag)
{
    const struct kvc_workload *workload = &options->loaded->scenario.workload;
    if (workload->arrival == KVC_ARRIVAL_SATURATE || workload->arrival == KVC_ARRIVAL_CLOSED) {
        return kvc_diag_fail_at(
            diag, KVC_ERR_SCENARIO, options->path, line_of(options, "workload.arrival"),
            "workload.arrival: found %s, allowed in a plan: an open load such as "
            "{ poisson_mops = 50 }, because an slo means nothing without the load it holds for",
            workload->arrival == KVC_ARRIVAL_SATURATE ? "\"saturate\"" : "clients that wait");
    }
    if (options->loaded->scenario.run.change_count > 0) {
        return kvc_diag_fail_at(
            diag, KVC_ERR_SCENARIO, options->path, line_of(options, "run.changes"),
            "run.changes: not allowed in a plan, because the closed form knows no changes");
    }
    double rate_mops = kvc_workload_rate_max_mops(workload), least_mops = options->loaded->slo.mops;
    if (isfinite(rate_mops) && least_mops > rate_mops) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, options->path, line_of(options, "slo.mops"),
                                "slo.mops: found %g, but the load offers no more than %g Mops", least_mops,
                                rate_mops);
    }
    return KVC_OK;
}

/* Returns whether a path belongs to hardware or settings, not to the load or the run. */
static bool is_configuration(const char *path)
{
    static const char *const sections[] = {"system", "node", "cluster"};
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
        size_t length = strlen(sections[i]);
        if (strncmp(path, sections[i], length) == 0 && (path[length] == '.' || path[length] == '\0')) {
            return true;
        }
    }
    return false;
}

/* Returns whether a value of the axis names a store. */
static bool changes_store(const struct kvc_sweep_axis *axis)
{
    for (uint32_t i = 0; i < axis->count; i++) {
        for (uint32_t j = 0; j < axis->value[i].set.count; j++) {
            if (strcmp(axis->value[i].set.entry[j].path, "system.kind") == 0) {
                return true;
            }
        }
    }
    return false;
}

static enum kvc_status check_axes(const struct kvc_plan_options *options, struct kvc_diag *diag)
{
    const struct kvc_sweep *sweep = &options->loaded->sweep;
    for (uint32_t i = 0; i < sweep->count; i++) {
        const char *path = sweep->axis[i].path;
        char place[KVC_PATH_MAX + sizeof("sweep.")];
        snprintf(place, sizeof(place), "sweep.%s", path);
        if (!is_configuration(path)) {
            return kvc_diag_fail_at(
                diag, KVC_ERR_SCENARIO, options->path, line_of(options, place),
                "sweep of %s: allowed in a plan: paths of system, node and cluster, because a "
                "plan compares configurations under one load",
                path);
        }
        if (changes_store(&sweep->axis[i])) {
            return kvc_diag_fail_at(
                diag, KVC_ERR_SCENARIO, options->path, line_of(options, place),
                "sweep of %s: found system.kind, but a plan compares configurations of one "
                "store, because each store has its own errors of the closed form",
                path);
        }
    }
    return KVC_OK;
}

/* Checks that there are a plan, a slo and an open load, and that the axes are hardware or settings. Then
 * fills the goals. */
static enum kvc_status check(const struct kvc_plan_options *options, struct kvc_planned *planned,
                             struct kvc_diag *diag)
{
    if (!options->loaded->plan.is_stated) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, options->path, line_of(options, ""),
                                "the scenario has no plan table, such as plan = { minimise = \"price\" }");
    }
    set_goals(options->loaded, planned);
    if (planned->goal_count == 1) { /* Only that requests are served. */
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, options->path, line_of(options, ""),
                                "the scenario has no slo table, such as slo = { p99 = \"400us\" }");
    }
    enum kvc_status status = check_load(options, diag);
    return status == KVC_OK ? check_axes(options, diag) : status;
}

/* Loads the scenario of a candidate. */
static enum kvc_status load_candidate(const struct kvc_plan_options *options,
                                      const struct kvc_planned *planned, uint32_t candidate,
                                      struct kvc_loaded **out, struct kvc_diag *diag)
{
    struct kvc_overrides set = {0};
    enum kvc_status status = KVC_OK;
    for (uint32_t i = 0; options->set != NULL && i < options->set->count && status == KVC_OK; i++) {
        status = kvc_overrides_add(&set, options->set->entry[i].path, options->set->entry[i].value, diag);
    }
    if (status == KVC_OK) {
        status = kvc_space_set(planned->space, candidate, &set, diag);
    }
    if (status == KVC_OK) {
        status = kvc_scenario_load_point(options->path, &set, out, diag);
    }
    kvc_overrides_clear(&set);
    return status;
}

/* Adds a device that states no power or price to the reasons for exclusion. */
static void add_exclusion(struct kvc_planned *planned, const char *what, const char *missing)
{
    char reason[KVC_MISSING_BYTES + 32];
    size_t used = strlen(planned->exclusion);
    snprintf(reason, sizeof(reason), "the %s of %s", what, missing[0] != '\0' ? missing : "a device");
    if (strstr(planned->exclusion, reason) == NULL) {
        snprintf(planned->exclusion + used, sizeof(planned->exclusion) - used, "%s%s", used > 0 ? "; " : "",
                 reason);
    }
}

/* Excludes the candidates whose power or price is unknown although the objectives need it. Fails if none is
 * left. */
static enum kvc_status exclude_unknown(const struct kvc_plan_options *options, struct kvc_planned *planned,
                                       struct kvc_diag *diag)
{
    const struct kvc_plan_search *search = &planned->search;
    bool needs_price = search->minimise == KVC_PLAN_BY_PRICE || !isnan(options->loaded->slo.price_usd);
    bool needs_watts = search->minimise == KVC_PLAN_BY_WATTS || !isnan(options->loaded->slo.watts);
    uint32_t left = 0;
    for (uint32_t i = 0; i < search->count; i++) {
        struct kvc_plan_candidate *candidate = &search->candidate[i];
        if (candidate->fate == KVC_PLAN_REFUSED) {
            continue;
        }
        if (needs_price && isnan(candidate->price_usd)) {
            add_exclusion(planned, "price", planned->forecast[i].price_missing);
            candidate->fate = KVC_PLAN_EXCLUDED;
        }
        if (needs_watts && isnan(candidate->closed_form[KVC_PLAN_WATTS])) {
            add_exclusion(planned, "power", planned->forecast[i].watts_missing);
            candidate->fate = KVC_PLAN_EXCLUDED;
        }
        left += candidate->fate != KVC_PLAN_EXCLUDED;
    }
    return left > 0 ? KVC_OK
                    : kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, options->path, 0,
                                       "plan: no point of the sweep states what the objectives need: %s; "
                                       "state it, such as node = { gpu = { base = ..., price = 1000 } }",
                                       planned->exclusion);
}

/* A store without a closed form for this scenario has no binding resource; a failure of the machine ends the
 * program. */
static void end_if_failed(const struct kvc_diag *diag)
{
    if (diag->status == KVC_ERR_RUNTIME) {
        kvc_give_up("%s", diag->message);
    }
}

static void find_busiest(const struct kvc_scenario *scenario, struct kvc_plan_binding *binding)
{
    struct kvc_outcome *outcome = NULL;
    struct kvc_diag diag = {0};
    if (kvc_driver_predict(scenario, &outcome, &diag) != KVC_OK) {
        end_if_failed(&diag);
        return;
    }
    for (uint32_t i = 0; i < outcome->result.stage_count; i++) {
        const struct kvc_stage_result *stage = &outcome->result.stage[i];
        if (stage->utilization_frac > binding->utilization_frac || isnan(binding->utilization_frac)) {
            binding->utilization_frac = stage->utilization_frac;
            snprintf(binding->stage, sizeof(binding->stage), "%.*s", KVC_FORECAST_NAME_MAX - 1, stage->name);
            snprintf(binding->device, sizeof(binding->device), "%.*s", KVC_FORECAST_NAME_MAX - 1,
                     stage->device);
        }
    }
    kvc_outcome_free(outcome);
}

/* Finds the throughput of saturating clients and the resource that raises it most. A trace cannot be replayed
 * at another load, so it has no limit. */
static void find_limit(const struct kvc_scenario *scenario, struct kvc_plan_binding *binding)
{
    struct kvc_scenario saturated = *scenario;
    struct kvc_outcome *limit = NULL;
    struct kvc_diag diag = {0};
    saturated.config = NULL; /* The original's. */
    saturated.workload.arrival = KVC_ARRIVAL_SATURATE;
    if (scenario->workload.arrival != KVC_ARRIVAL_TRACE &&
        kvc_scenario_resolve(&saturated, &diag) == KVC_OK &&
        kvc_driver_predict(&saturated, &limit, &diag) == KVC_OK) {
        binding->limit_mops = limit->result.throughput_mops;
        if (kvc_gain_find(&saturated, NULL, limit, &diag) == KVC_OK && limit->gain_count > 0 &&
            limit->gain[0].gain_frac.mean > 0) {
            binding->gain_frac = limit->gain[0].gain_frac.mean;
            snprintf(binding->resource, sizeof(binding->resource), "%s", limit->gain[0].resource);
            snprintf(binding->resource_device, sizeof(binding->resource_device), "%s", limit->gain[0].device);
        }
    }
    end_if_failed(&diag);
    kvc_outcome_free(limit);
    kvc_scenario_unresolve(&saturated);
}

/* Finds the stage that is busiest at the scenario's load, and the resource that saturating clients meet
 * first: that whose being 5 % faster gains most throughput (scenarios/run/gain.h). What the closed form does
 * not know stays empty. */
static void find_binding(const struct kvc_scenario *scenario, struct kvc_plan_binding *binding)
{
    *binding = (struct kvc_plan_binding){.utilization_frac = NAN, .limit_mops = NAN, .gain_frac = NAN};
    find_busiest(scenario, binding);
    find_limit(scenario, binding);
}

struct simulator {
    const struct kvc_plan_options *options;
    const struct kvc_planned *planned;
};

/* Replicas that are simulated at the same time, each in a child process. */
struct batch {
    const struct simulator *simulator;
    const struct kvc_plan_task *task;
    struct kvc_loaded **loaded; /* By task; tasks of the same candidate share one. */
    uint32_t count;
    double *value;
};

struct answer {
    double value[KVC_PLAN_VALUES];
};

/* Loads the candidates. Tasks of one candidate follow each other. */
static enum kvc_status load(struct batch *batch, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (uint32_t i = 0; i < batch->count && status == KVC_OK; i++) {
        if (i > 0 && batch->task[i].candidate == batch->task[i - 1].candidate) {
            batch->loaded[i] = batch->loaded[i - 1];
            continue;
        }
        status = load_candidate(batch->simulator->options, batch->simulator->planned,
                                batch->task[i].candidate, &batch->loaded[i], diag);
    }
    return status;
}

static void unload(struct batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        if (i + 1 == batch->count || batch->loaded[i] != batch->loaded[i + 1]) {
            kvc_loaded_free(batch->loaded[i]);
        }
    }
    free(batch->loaded);
}

static double memory_bytes(const void *data, uint32_t task)
{
    return kvc_memory_needed_bytes(&((const struct batch *)data)->loaded[task]->scenario);
}

/* Runs in the child, which has the scenario for itself. */
static enum kvc_status simulate(void *data, uint32_t task, const struct kvc_progress *progress, void *answer,
                                struct kvc_diag *diag)
{
    const struct batch *batch = data;
    struct kvc_scenario *scenario = &batch->loaded[task]->scenario;
    const struct kvc_run_options options = {
        .jobs = 1, .available_bytes = memory_bytes(batch, task), .progress = progress};
    struct kvc_outcome *outcome = NULL;
    scenario->run.seed = kvc_seed_of_replica(scenario->run.seed, batch->task[task].replica);
    scenario->run.replicas = 1;
    enum kvc_status status = kvc_driver_run(scenario, &options, &outcome, diag);
    if (status == KVC_OK) {
        double *value = ((struct answer *)answer)->value;
        kvc_plan_simulated_values(outcome, value);
        kvc_plan_tenant_values(outcome, value);
        value[KVC_PLAN_WINDOW_FRAC] = 1 + kvc_slo_windows_of(batch->loaded[task], outcome).margin_frac;
    }
    kvc_outcome_free(outcome);
    return status;
}

static enum kvc_status take(void *data, uint32_t task, const void *answer, struct kvc_diag *diag)
{
    struct batch *batch = data;
    double *value = batch->value + (size_t)task * KVC_PLAN_VALUES;
    const struct kvc_plan_candidate *candidate =
        &batch->simulator->planned->search.candidate[batch->task[task].candidate];
    (void)diag;
    memcpy(value, ((const struct answer *)answer)->value, sizeof(((const struct answer *)answer)->value));
    value[KVC_PLAN_PRICE_USD] = candidate->price_usd;
    return KVC_OK;
}

/* The `simulate` of a search (scenarios/explore/plan/search.h); `data` is a struct simulator.
 */
static enum kvc_status simulate_tasks(void *data, const struct kvc_plan_task *task, uint32_t count,
                                      double *value, struct kvc_diag *diag)
{
    const struct simulator *simulator = data;
    struct batch batch = {.simulator = simulator,
                          .task = task,
                          .loaded = kvc_array_of(count, sizeof(*batch.loaded)),
                          .count = count,
                          .value = value};
    char noun[64];
    snprintf(noun, sizeof(noun), "replica of point %u", task[0].candidate + 1);
    const struct kvc_pool_options pool = {
        .tasks = count,
        .jobs = simulator->options->jobs > 0 ? simulator->options->jobs : kvc_pool_processors(),
        .answer_bytes = sizeof(struct answer),
        .noun = task[0].candidate == task[count - 1].candidate ? noun : "replica",
        .data = &batch,
        .body = simulate,
        .memory_bytes = memory_bytes,
        .available_bytes = kvc_memory_available_bytes(),
        .take = take,
    };
    enum kvc_status status = load(&batch, diag);
    if (status == KVC_OK) {
        status = kvc_pool_run(&pool, simulator->options->progress, diag);
    }
    unload(&batch);
    return status;
}

enum { REPLICAS_LEAST = 3, FORECASTS_PER_REPORT = 64 };

/* The width of the headroom's interval, relative to the load. */
static const double headroom_precision_frac = 0.02;

void kvc_planned_free(struct kvc_planned *planned)
{
    kvc_plan_search_free(&planned->search);
    kvc_plan_front_free(&planned->front);
    kvc_space_free(planned->space);
    free(planned->search.candidate);
    free(planned->forecast);
    *planned = (struct kvc_planned){0};
}

/* Rules out a candidate whose values do not go together or whose closed form fails. */
static void refuse(struct kvc_planned *planned, struct kvc_plan_candidate *candidate,
                   const struct kvc_diag *diag)
{
    candidate->fate = KVC_PLAN_REFUSED;
    candidate->price_usd = candidate->nodes = NAN;
    for (int i = 0; i < KVC_PLAN_METRICS; i++) {
        candidate->closed_form[i] = NAN;
    }
    if (planned->refusal[0] == '\0') {
        snprintf(planned->refusal, sizeof(planned->refusal), "%.*s", (int)sizeof(planned->refusal) - 1,
                 diag->message);
    }
}

static enum kvc_status forecast_all(const struct kvc_plan_options *options, struct kvc_planned *planned,
                                    struct kvc_evaluator *evaluator, struct kvc_diag *diag)
{
    const struct kvc_space *space = planned->space;
    uint32_t value[KVC_SWEEP_AXES_MAX], refused = 0;
    for (uint32_t i = 0; i < space->points; i++) {
        struct kvc_plan_candidate *candidate = &planned->search.candidate[i];
        struct kvc_diag inner = {0};
        kvc_space_point(space, i, value);
        enum kvc_status status = kvc_evaluator_forecast(evaluator, value, &planned->forecast[i], &inner);
        if (status == KVC_OK) {
            kvc_plan_forecast_values(&planned->forecast[i], candidate->closed_form);
            candidate->price_usd = planned->forecast[i].price_usd;
            candidate->nodes = (double)planned->forecast[i].nodes;
        } else if (status == KVC_ERR_SCENARIO) {
            refuse(planned, candidate, &inner);
            refused++;
        } else {
            *diag = inner;
            return status;
        }
        if (i % FORECASTS_PER_REPORT == 0) {
            kvc_progress_report(options->progress, "closed form", (double)i / space->points);
        }
    }
    if (refused == space->points) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, options->path, 0,
                                "plan: all %u points of the sweep are refused: %s", refused,
                                planned->refusal);
    }
    return KVC_OK;
}

static enum kvc_status make_candidates(const struct kvc_plan_options *options, struct kvc_planned *planned,
                                       struct kvc_diag *diag)
{
    struct kvc_evaluator *evaluator = NULL;
    enum kvc_status status = kvc_space_create(options->loaded, &planned->space, diag);
    if (status != KVC_OK) {
        return status;
    }
    planned->search.count = planned->space->points;
    planned->search.candidate = kvc_array_of(planned->space->points, sizeof(*planned->search.candidate));
    planned->forecast = kvc_array_of(planned->space->points, sizeof(*planned->forecast));
    status = kvc_evaluator_create(options->path, options->set, planned->space, &evaluator, diag);
    if (status == KVC_OK) {
        status = forecast_all(options, planned, evaluator, diag);
    }
    kvc_evaluator_free(evaluator);
    return status;
}

static enum kvc_status search(const struct kvc_plan_options *options, struct kvc_planned *planned,
                              struct kvc_diag *diag)
{
    const struct kvc_plan_request *plan = &options->loaded->plan;
    struct simulator simulator = {options, planned};
    struct kvc_plan_search *search = &planned->search;
    search->goal = planned->goal;
    search->goal_count = planned->goal_count;
    search->test = (struct kvc_plan_test){
        .least = REPLICAS_LEAST, .most = (uint32_t)plan->replicas, .confidence = plan->confidence};
    search->errors = &planned->errors;
    search->ahead = (uint32_t)plan->ahead;
    search->exhaustive = options->exhaustive;
    search->simulate = simulate_tasks;
    search->data = &simulator;
    enum kvc_status status = kvc_plan_search_run(search, diag);
    search->simulate = NULL;
    search->data = NULL;
    return status;
}

/* Finds the highest load that the scenario serves within one bound of the latency, or none for NULL. */
static enum kvc_status find_capacity(const struct kvc_plan_options *options, const struct kvc_loaded *loaded,
                                     const struct kvc_plan_goal *goal, struct kvc_plan_headroom *headroom,
                                     struct kvc_diag *diag)
{
    static const int latencies[KVC_PLAN_LATENCIES] = {KVC_CAPACITY_P50, KVC_CAPACITY_P95, KVC_CAPACITY_P99,
                                                      KVC_CAPACITY_P999};
    struct kvc_capacity_options search = {.bounds = kvc_capacity_bounds_default,
                                          .no_curve = true,
                                          .jobs = options->jobs,
                                          .progress = options->progress};
    struct kvc_capacity capacity = {.count = 0};
    search.bounds.precision_frac = headroom_precision_frac;
    if (goal != NULL) {
        search.bounds.bounds_latency = true;
        search.bounds.latency = goal->metric < KVC_PLAN_TENANT_US
                                    ? latencies[goal->metric]
                                    : KVC_CAPACITY_TENANT + (int)(goal->metric - KVC_PLAN_TENANT_US);
        search.bounds.latency_us = goal->bound;
    }
    enum kvc_status status = kvc_capacity_find(loaded, &search, &capacity, diag);
    if (status == KVC_OK && (!headroom->is_known || capacity.mean_mops < headroom->mean_mops)) {
        headroom->is_known = true;
        headroom->low_mops = capacity.low_mops;
        headroom->mean_mops = capacity.mean_mops;
        headroom->high_mops = capacity.high_mops;
    }
    kvc_capacity_free(&capacity);
    return status;
}

/* Finds the headroom: the lowest of the capacities that the latency goals allow. */
static enum kvc_status find_headroom(const struct kvc_plan_options *options, struct kvc_planned *planned,
                                     const struct kvc_loaded *loaded, struct kvc_diag *diag)
{
    struct kvc_plan_headroom *headroom = &planned->headroom;
    enum kvc_status status = KVC_OK;
    bool bounds_latency = false;
    headroom->offered_mops = kvc_workload_rate_max_mops(&loaded->scenario.workload);
    for (uint32_t i = 0; i < planned->goal_count && status == KVC_OK; i++) {
        if ((int)planned->goal[i].metric < KVC_PLAN_LATENCIES ||
            planned->goal[i].metric >= KVC_PLAN_TENANT_US) {
            bounds_latency = true;
            status = find_capacity(options, loaded, &planned->goal[i], headroom, diag);
        }
    }
    return status == KVC_OK && !bounds_latency ? find_capacity(options, loaded, NULL, headroom, diag)
                                               : status;
}

/* Finds what limits the chosen or else the nearest candidate, and the headroom of a chosen one. */
static enum kvc_status examine(const struct kvc_plan_options *options, struct kvc_planned *planned,
                               struct kvc_diag *diag)
{
    int64_t which = planned->search.chosen >= 0 ? planned->search.chosen : planned->search.nearest;
    struct kvc_loaded *loaded = NULL;
    enum kvc_status status = load_candidate(options, planned, (uint32_t)which, &loaded, diag);
    if (status == KVC_OK) {
        find_binding(&loaded->scenario, &planned->binding);
    }
    if (status == KVC_OK && options->headroom && planned->search.chosen >= 0) {
        status = find_headroom(options, planned, loaded, diag);
    }
    kvc_loaded_free(loaded);
    return status;
}

static enum kvc_status read_errors(const struct kvc_plan_options *options, struct kvc_planned *planned,
                                   struct kvc_diag *diag)
{
    char path[PATH_MAX];
    kvc_data_path("validate/mechanisms/closed_form.csv", path);
    return kvc_plan_errors_read(path, options->loaded->scenario.model->name, &planned->errors, diag);
}

enum kvc_status kvc_plan_make(const struct kvc_plan_options *options, struct kvc_planned *planned,
                              struct kvc_diag *diag)
{
    *planned =
        (struct kvc_planned){.search = {.minimise = (enum kvc_plan_objective)options->loaded->plan.minimise}};
    enum kvc_status status = check(options, planned, diag);
    if (status == KVC_OK) {
        status = read_errors(options, planned, diag);
    }
    if (status == KVC_OK) {
        status = make_candidates(options, planned, diag);
    }
    if (status == KVC_OK) {
        status = exclude_unknown(options, planned, diag);
    }
    if (status == KVC_OK) {
        status = search(options, planned, diag);
    }
    if (status == KVC_OK) {
        kvc_plan_front_find(&planned->search, &planned->front);
        status = examine(options, planned, diag);
    }
    return status;
}
