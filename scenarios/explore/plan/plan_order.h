/* The order of a plan's candidates, and which of them their closed form rules out. */
#ifndef KVC_SCENARIOS_EXPLORE_PLAN_PLAN_ORDER_H
#define KVC_SCENARIOS_EXPLORE_PLAN_PLAN_ORDER_H

#include "scenarios/explore/plan/plan_search.h"

/* Marks the candidates that miss a goal even at the end of the range in which the simulation may be
 * (kvc_plan_errors_range); in an exhaustive search only those with a price above its bound, which no
 * simulation changes. */
void kvc_plan_prune(struct kvc_plan_search *search);

/* Makes search->order: the candidates by objective and closed form, best first. */
void kvc_plan_sort(struct kvc_plan_search *search);

/* Returns whether candidate `a` is better than `b`, as far as is known. */
bool kvc_plan_precedes(const struct kvc_plan_search *search, uint32_t a, uint32_t b);

/* Returns whether candidate `a`, which is not decided yet, may turn out better than the confirmed `b`. */
bool kvc_plan_may_precede(const struct kvc_plan_search *search, uint32_t a, uint32_t b);

#endif
