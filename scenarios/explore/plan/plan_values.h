/* The values of a configuration that a plan compares, from its closed form and from its simulation. */
#ifndef KVC_SCENARIOS_EXPLORE_PLAN_PLAN_VALUES_H
#define KVC_SCENARIOS_EXPLORE_PLAN_PLAN_VALUES_H

#include "scenarios/explore/plan/plan_goal.h"
#include "scenarios/output/outcome.h"
#include "sim/base/diag.h"
#include "sim/scenario.h"

struct kvc_forecast;

/* Returns whether the load has one rate all the time, so that its highest rate is its mean. */
bool kvc_plan_is_steady(const struct kvc_workload *workload);

/* Writes the values of a forecast, by enum kvc_plan_metric; NaN: unknown. The share that is served is known
 * only for a steady load. */
void kvc_plan_forecast_values(const struct kvc_forecast *forecast, bool is_steady,
                              double value[KVC_PLAN_METRICS]);

/* Forecasts a resolved scenario and writes its values. Returns what the store's closed form returns. */
enum kvc_status kvc_plan_predict_values(const struct kvc_scenario *scenario, double value[KVC_PLAN_METRICS],
                                        struct kvc_diag *diag);

/* Writes the values of a simulation, means over its replicas; the price is unknown. */
void kvc_plan_simulated_values(const struct kvc_outcome *outcome, double value[KVC_PLAN_METRICS]);

#endif
