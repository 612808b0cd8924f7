/* The Pareto front of a plan: the candidates of which no other one is at least as good in price, power and
 * latency, and better in one of them.
 *
 * It compares closed forms only, so that simulated candidates do not compete with others on different terms.
 * Candidates that are refused, pruned or failed do not take part. A dimension that is unknown for one of the
 * others is left out for all; the number of nodes stands for an unknown price. */
#ifndef KVC_SCENARIOS_EXPLORE_PLAN_PLAN_FRONT_H
#define KVC_SCENARIOS_EXPLORE_PLAN_PLAN_FRONT_H

#include "scenarios/explore/plan/plan_search.h"

struct kvc_plan_front {
    bool has_price, has_watts;    /* The dimensions besides the latency that are known. */
    enum kvc_plan_metric latency; /* The latency that is compared; KVC_PLAN_METRICS: none is known. */
    uint32_t count;
    uint32_t *candidate; /* By price, then power, then latency. */
};

/* Finds the front. The latency is the first known one of: the one that a goal bounds, p99, p95, p50, the
 * mean. */
void kvc_plan_front_find(const struct kvc_plan_search *search, struct kvc_plan_front *front);

/* Frees the list and empties it. */
void kvc_plan_front_free(struct kvc_plan_front *front);

#endif
