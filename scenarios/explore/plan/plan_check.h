/* What a scenario must state before a plan can be made, and the goals that its slo sets. */
#ifndef KVC_SCENARIOS_EXPLORE_PLAN_PLAN_CHECK_H
#define KVC_SCENARIOS_EXPLORE_PLAN_PLAN_CHECK_H

#include "scenarios/explore/plan/plan.h"

/* Checks that there are a plan, a slo and an open load, and that the axes are hardware or settings. Then
 * fills the goals. */
enum kvc_status kvc_plan_check(const struct kvc_plan_options *options, struct kvc_planned *planned,
                               struct kvc_diag *diag);

/* Checks that the objective and a bounded price are known for every candidate that is not refused. */
enum kvc_status kvc_plan_check_known(const struct kvc_plan_options *options,
                                     const struct kvc_planned *planned, struct kvc_diag *diag);

/* Loads the scenario of a candidate. */
enum kvc_status kvc_plan_load(const struct kvc_plan_options *options, const struct kvc_planned *planned,
                              uint32_t candidate, struct kvc_loaded **out, struct kvc_diag *diag);

#endif
