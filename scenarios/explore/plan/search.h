/* The search for the best configuration that meets all goals, as decisions on plain numbers: closed forms and
 * replicas go in, fates come out.
 *
 * 1. A candidate is pruned if its closed form misses a goal even when it is corrected by the largest error
 *    that was measured for this store in that direction (scenarios/explore/plan/goal.h).
 * 2. The others are simulated in the order of the objective, best first, with one replica more at a time
 *    until the sequential test (scenarios/explore/plan/goal.h) has decided every goal or has no look left.
 * 3. The search stops when a candidate meets all goals and no candidate that is still open can be better. The
 *    objectives price and nodes are known exactly. Power is not: a candidate with replicas counts with their
 *    mean, one without replicas with the lowest power that the error of its closed form allows.
 *
 * If no candidate meets all goals, the one that comes nearest is simulated as well.
 *
 * The replicas of a step are the same for any number of processes that simulate them, and decisions depend on
 * nothing but the values that they return. */
#ifndef KVC_SCENARIOS_EXPLORE_PLAN_SEARCH_H
#define KVC_SCENARIOS_EXPLORE_PLAN_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/explore/plan/goal.h"
#include "scenarios/load/load.h"
#include "sim/base/diag.h"

enum { KVC_PLAN_REPLICAS_MAX = 64 };

enum kvc_plan_fate {
    KVC_PLAN_OPEN_FATE, /* During the search: may still be chosen. */
    KVC_PLAN_REFUSED,   /* The values do not go together. */
    KVC_PLAN_EXCLUDED,  /* The power or the price that the objectives need is unknown. */
    KVC_PLAN_PRUNED,    /* The closed form misses a goal by more than its error. */
    KVC_PLAN_BEATEN,    /* Cannot be better than the chosen one, so it was not simulated to a decision. */
    KVC_PLAN_FAILED,    /* Simulated, misses a goal. */
    KVC_PLAN_UNDECIDED, /* Simulated by the largest number of replicas without a decision. */
    KVC_PLAN_CONFIRMED, /* Simulated, meets all goals. */
    KVC_PLAN_CHOSEN,    /* The best of these. */
    KVC_PLAN_FATES,
};

/* "refused", "pruned", ..., by enum kvc_plan_fate. */
extern const char *const kvc_plan_fate_names[];

struct kvc_plan_candidate {
    double price_usd, nodes;              /* NaN: unknown. */
    double closed_form[KVC_PLAN_METRICS]; /* NaN: unknown. */
    enum kvc_plan_fate fate;
    uint32_t goal; /* Goal that decided a PRUNED or FAILED fate, or that is left open in an UNDECIDED one. */
    uint32_t replicas; /* Simulated so far. */
    double *value;     /* value[r * KVC_PLAN_VALUES + metric] is replica r's; NULL without replicas. */
};

/* Returns whether a candidate takes part in the search. */
static inline bool kvc_plan_competes(const struct kvc_plan_candidate *candidate)
{
    return candidate->fate != KVC_PLAN_REFUSED && candidate->fate != KVC_PLAN_EXCLUDED;
}

struct kvc_plan_task {
    uint32_t candidate, replica;
};

struct kvc_plan_search {
    struct kvc_plan_candidate *candidate; /* Set by the caller: price, nodes and closed form. */
    uint32_t count;
    const struct kvc_plan_goal *goal;
    uint32_t goal_count;
    struct kvc_plan_test test; /* The search sets `goals`. */
    enum kvc_plan_objective minimise;
    const struct kvc_plan_errors *errors;
    uint32_t ahead;  /* Candidates that are simulated at the same time, in their order; at least 1. */
    bool exhaustive; /* Simulate every candidate to a decision, prune none. */
    /* Simulates the tasks and writes the metrics of task i to value[i * KVC_PLAN_VALUES + metric]. */
    enum kvc_status (*simulate)(void *data, const struct kvc_plan_task *task, uint32_t count, double *value,
                                struct kvc_diag *diag);
    void *data;

    /* The answer. */
    int64_t chosen;       /* -1: no candidate meets all goals. */
    int64_t nearest;      /* If none is chosen, the candidate that misses by least; -1: all are refused. */
    int64_t runner_up;    /* The next best that is not out, simulated or not; -1: none. */
    uint32_t simulations; /* Replicas simulated. */
    uint32_t *order;      /* Candidates by objective, best first. */
};

/* Prunes, orders, simulates and chooses. Returns the failure of `simulate`, if any. */
enum kvc_status kvc_plan_search_run(struct kvc_plan_search *search, struct kvc_diag *diag);

/* Returns the interval of a candidate's metric over its replicas at the last look. Its mean is the closed
 * form's and its half width NaN if there are no replicas. */
struct kvc_interval kvc_plan_value(const struct kvc_plan_search *search,
                                   const struct kvc_plan_candidate *candidate, enum kvc_plan_metric metric);

/* Returns the largest share of a bound by which the candidate misses a goal, and that goal; negative if it
 * meets all goals. Infinite if no goal's value is known. */
double kvc_plan_shortfall_frac(const struct kvc_plan_search *search,
                               const struct kvc_plan_candidate *candidate, uint32_t *goal);

/* Frees the order and the values of the candidates. */
void kvc_plan_search_free(struct kvc_plan_search *search);

/* The Pareto front of a plan: the candidates that no other one equals or beats in price, power and latency
 * while beating them in one of these.
 *
 * It compares closed forms only, so that simulated candidates do not compete with others on different terms.
 * Candidates that are refused, pruned or failed do not take part. A dimension that is unknown for one of the
 * others is left out for all; the number of nodes stands for an unknown price. */

struct kvc_plan_front {
    bool has_price, has_watts;    /* The dimensions besides the latency that are known. */
    enum kvc_plan_metric latency; /* The latency that is compared; KVC_PLAN_METRICS: none is known. */
    uint32_t count;
    uint32_t *candidate; /* By price, then power, then latency. */
};

/* Finds the front. It compares the first latency that is known: the one that a goal bounds, p99, p95, p50, or
 * the mean. */
void kvc_plan_front_find(const struct kvc_plan_search *search, struct kvc_plan_front *front);

/* Frees the list and empties it. */
void kvc_plan_front_free(struct kvc_plan_front *front);

#endif
