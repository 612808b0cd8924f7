/* Which resource limits a configuration, by its closed form. */
#ifndef KVC_SCENARIOS_EXPLORE_PLAN_PLAN_BINDING_H
#define KVC_SCENARIOS_EXPLORE_PLAN_PLAN_BINDING_H

#include "scenarios/explore/plan/plan.h"

/* Finds the stage that is busiest at the scenario's load, and the resource that saturating clients meet
 * first: that whose being 5 % faster gains most throughput (scenarios/run/gain.h). What the closed form does
 * not know stays empty. */
void kvc_plan_bind(const struct kvc_scenario *scenario, struct kvc_plan_binding *binding);

#endif
