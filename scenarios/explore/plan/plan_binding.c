#include "scenarios/explore/plan/plan_binding.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/model.h"
#include "scenarios/run/driver.h"
#include "scenarios/run/gain.h"

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

/* A trace has no other load, so that it has no limit. */
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

void kvc_plan_bind(const struct kvc_scenario *scenario, struct kvc_plan_binding *binding)
{
    *binding = (struct kvc_plan_binding){.utilization_frac = NAN, .limit_mops = NAN, .gain_frac = NAN};
    find_busiest(scenario, binding);
    find_limit(scenario, binding);
}
