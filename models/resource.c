#include "models/resource.h"

#include <math.h>

void kvc_stages_report(kvc_stages_fn *stages, const struct kvc_scenario *scenario,
                       const struct kvc_recorder *recorder, bool at_most_one, struct kvc_result *result)
{
    struct kvc_model_stage stage[KVC_MODEL_STAGES_MAX];
    for (uint32_t i = 0, count = stages(scenario, stage); i < count; i++) {
        unsigned busy = stage[i].busy != 0 ? stage[i].busy : 1u << i;
        if (stage[i].servers == 0 || (stage[i].if_busy && kvc_sum_of_stages(recorder->busy_ns, busy) == 0)) {
            continue;
        }
        struct kvc_stage_result *added = kvc_recorder_report_stage(recorder, stage[i].name, stage[i].device,
                                                                   busy, stage[i].servers, result);
        if (at_most_one) {
            added->utilization_frac = fmin(added->utilization_frac, 1);
        }
    }
}

void kvc_stages_predict(kvc_stages_fn *stages, const struct kvc_scenario *scenario,
                        const double *utilization_frac, struct kvc_result *result)
{
    struct kvc_model_stage stage[KVC_MODEL_STAGES_MAX];
    for (uint32_t i = 0, count = stages(scenario, stage); i < count; i++) {
        if (stage[i].servers > 0 && !isnan(utilization_frac[i])) {
            kvc_result_add_stage(result, stage[i].name, stage[i].device, fmin(utilization_frac[i], 1));
        }
    }
}

bool kvc_resource_is_used(const struct kvc_model_resource *resource, const struct kvc_scenario *scenario)
{
    return resource->used == NULL || resource->used(scenario);
}
