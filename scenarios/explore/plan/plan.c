#include "scenarios/explore/plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/model.h"
#include "scenarios/explore/evaluator.h"
#include "scenarios/explore/plan/plan_binding.h"
#include "scenarios/explore/plan/plan_check.h"
#include "scenarios/explore/plan/plan_simulate.h"
#include "scenarios/explore/plan/plan_values.h"
#include "scenarios/run/capacity.h"
#include "sim/base/array.h"
#include "sim/base/files/data_dir.h"

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

/* A candidate whose values do not go together, or that the closed form refuses, is out. */
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
    bool is_steady = kvc_plan_is_steady(&options->loaded->scenario.workload);
    uint32_t value[KVC_SWEEP_AXES_MAX], refused = 0;
    for (uint32_t i = 0; i < space->points; i++) {
        struct kvc_plan_candidate *candidate = &planned->search.candidate[i];
        struct kvc_diag inner = {0};
        kvc_space_point(space, i, value);
        enum kvc_status status = kvc_evaluator_forecast(evaluator, value, &planned->forecast[i], &inner);
        if (status == KVC_OK) {
            kvc_plan_forecast_values(&planned->forecast[i], is_steady, candidate->closed_form);
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
    struct kvc_plan_simulator simulator = {options, planned};
    struct kvc_plan_search *search = &planned->search;
    search->goal = planned->goal;
    search->goal_count = planned->goal_count;
    search->test = (struct kvc_plan_test){
        .least = REPLICAS_LEAST, .most = (uint32_t)plan->replicas, .confidence = plan->confidence};
    search->errors = &planned->errors;
    search->ahead = (uint32_t)plan->ahead;
    search->exhaustive = options->exhaustive;
    search->simulate = kvc_plan_simulate;
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
        search.bounds.latency = latencies[goal->metric];
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

/* The headroom is the lowest capacity over the bounds of latencies. */
static enum kvc_status find_headroom(const struct kvc_plan_options *options, struct kvc_planned *planned,
                                     const struct kvc_loaded *loaded, struct kvc_diag *diag)
{
    struct kvc_plan_headroom *headroom = &planned->headroom;
    enum kvc_status status = KVC_OK;
    bool bounds_latency = false;
    headroom->offered_mops = kvc_workload_rate_max_mops(&loaded->scenario.workload);
    for (uint32_t i = 0; i < planned->goal_count && status == KVC_OK; i++) {
        if ((int)planned->goal[i].metric < KVC_PLAN_LATENCIES) {
            bounds_latency = true;
            status = find_capacity(options, loaded, &planned->goal[i], headroom, diag);
        }
    }
    return status == KVC_OK && !bounds_latency ? find_capacity(options, loaded, NULL, headroom, diag)
                                               : status;
}

/* Looks closer at the candidate that the answer is about. */
static enum kvc_status examine(const struct kvc_plan_options *options, struct kvc_planned *planned,
                               struct kvc_diag *diag)
{
    int64_t which = planned->search.chosen >= 0 ? planned->search.chosen : planned->search.nearest;
    struct kvc_loaded *loaded = NULL;
    enum kvc_status status = kvc_plan_load(options, planned, (uint32_t)which, &loaded, diag);
    if (status == KVC_OK) {
        kvc_plan_bind(&loaded->scenario, &planned->binding);
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
    enum kvc_status status = kvc_plan_check(options, planned, diag);
    if (status == KVC_OK) {
        status = read_errors(options, planned, diag);
    }
    if (status == KVC_OK) {
        status = make_candidates(options, planned, diag);
    }
    if (status == KVC_OK) {
        status = kvc_plan_check_known(options, planned, diag);
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
