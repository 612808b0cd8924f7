#include "models/resource.h"

#include <math.h>
#include <string.h>

#include "sim/base/text/copy.h"

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

struct kvc_stage_result *kvc_stages_find(struct kvc_result *result, const char *name)
{
    for (uint32_t i = 0; i < result->stage_count; i++) {
        if (strcmp(result->stage[i].name, name) == 0) {
            return &result->stage[i];
        }
    }
    return NULL;
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

void kvc_stages_limit(kvc_stages_fn *stages, const struct kvc_scenario *scenario, const double *limit_per_ns,
                      double per_ns, struct kvc_result *result)
{
    struct kvc_model_stage stage[KVC_MODEL_STAGES_MAX];
    double utilization_frac[KVC_MODEL_STAGES_MAX];
    for (uint32_t i = 0, count = stages(scenario, stage); i < count; i++) {
        utilization_frac[i] = isinf(limit_per_ns[i]) ? NAN : per_ns / limit_per_ns[i];
        if (!isinf(limit_per_ns[i])) {
            static const char of[] = "_limit_mops";
            char name[KVC_NAME_MAX];
            kvc_text_copy(name, sizeof(name) - (sizeof(of) - 1), stage[i].name);
            strcat(name, of);
            kvc_metrics_set(&result->model, name, limit_per_ns[i] * 1e3);
        }
    }
    kvc_stages_predict(stages, scenario, utilization_frac, result);
}
