/* A plan finds the configuration that minimises price, power or nodes among those that meet the scenario's
 * slo.
 *
 * The candidates are the points of the scenario's `sweep` table, which may vary system, node and cluster; the
 * load is the scenario's and has to be open. Unless the slo states a throughput, 99 % of the offered load
 * must be served, because a latency says nothing about requests that are not answered.
 * scenarios/explore/plan/search.h describes the search. Replica r of a candidate runs with the seed of the
 * scenario's replica r (sim/base/seeds.h), so that all candidates see the same requests.
 *
 * Not modelled: delivery, space, cooling and people; growth of the load (see the headroom). */
#ifndef KVC_SCENARIOS_EXPLORE_PLAN_PLAN_H
#define KVC_SCENARIOS_EXPLORE_PLAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "models/forecast.h"
#include "scenarios/explore/plan/goal.h"
#include "scenarios/explore/plan/search.h"
#include "scenarios/explore/space.h"
#include "scenarios/load/load.h"
#include "sim/base/diag.h"
#include "sim/base/progress.h"
#include "sim/metrics/result.h"

enum { KVC_PLAN_GOALS_MAX = 10 + KVC_TENANTS_MAX };

struct kvc_plan_options {
    const char *path;                /* Path of the scenario. */
    const struct kvc_overrides *set; /* The user's overrides, which come before the candidate's. */
    const struct kvc_loaded *loaded; /* The scenario with them. */
    uint32_t jobs;                   /* Replicas that are simulated at the same time; 0: one per processor. */
    bool exhaustive;                 /* Simulate every candidate to a decision. */
    bool headroom;                   /* Search the highest load that the chosen candidate serves. */
    const struct kvc_progress *progress; /* May be NULL. */
};

/* Bottleneck of a candidate, by its closed form. */
struct kvc_plan_binding {
    char stage[KVC_FORECAST_NAME_MAX],
        device[KVC_FORECAST_NAME_MAX]; /* Busiest at the load; "" if unknown. */
    double utilization_frac;           /* Share of the time in which that stage works. */
    /* Resource that a higher load meets first: being 5 % faster it raises the limit most. "" if unknown. */
    char resource[KVC_NAME_MAX], resource_device[KVC_NAME_MAX];
    double limit_mops, gain_frac; /* The limit, and the share by which the faster resource raises it. */
};

/* The highest load that the chosen candidate serves within the goals for latencies and loss. */
struct kvc_plan_headroom {
    bool is_known;
    double offered_mops; /* The load of the plan. */
    double low_mops, mean_mops,
        high_mops; /* The highest load and its interval (scenarios/output/capacity.h). */
};

struct kvc_planned {
    struct kvc_space *space;
    struct kvc_plan_goal goal[KVC_PLAN_GOALS_MAX];
    uint32_t goal_count;
    struct kvc_plan_errors errors;
    struct kvc_plan_search search; /* search.candidate[i] is point i of the space. */
    struct kvc_forecast *forecast; /* Indexed by candidate. */
    char refusal[256];             /* Message of the first refused candidate; "" if none is refused. */
    char exclusion[256];           /* What the excluded candidates do not state; "" if none is excluded. */
    struct kvc_plan_front front;
    /* Bottleneck of the chosen candidate, or of the nearest one if none is chosen. */
    struct kvc_plan_binding binding;
    struct kvc_plan_headroom headroom;
};

/* Makes a plan. A slo that no candidate meets is an answer, not an error. KVC_ERR_SCENARIO for a scenario
 * without slo, plan or open load, and for an objective that no candidate knows. The caller frees
 * *planned in any case. */
enum kvc_status kvc_plan_make(const struct kvc_plan_options *options, struct kvc_planned *planned,
                              struct kvc_diag *diag);

void kvc_planned_free(struct kvc_planned *planned);

#endif
