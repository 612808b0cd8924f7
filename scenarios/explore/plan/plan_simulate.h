/* Simulates replicas of a plan's candidates in child processes. */
#ifndef KVC_SCENARIOS_EXPLORE_PLAN_PLAN_SIMULATE_H
#define KVC_SCENARIOS_EXPLORE_PLAN_PLAN_SIMULATE_H

#include "scenarios/explore/plan/plan.h"

struct kvc_plan_simulator {
    const struct kvc_plan_options *options;
    const struct kvc_planned *planned;
};

/* The `simulate` of a search (scenarios/explore/plan/plan_search.h); `data` is a struct kvc_plan_simulator.
 */
enum kvc_status kvc_plan_simulate(void *data, const struct kvc_plan_task *task, uint32_t count, double *value,
                                  struct kvc_diag *diag);

#endif
