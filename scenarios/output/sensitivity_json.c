#include <math.h>

#include "scenarios/output/json_value.h"
#include "scenarios/output/sensitivity.h"

static json_t *elasticities(const struct kvc_sensitivity_parameter *parameter)
{
    json_t *object = json_object();
    for (int i = 0; i < KVC_SENSITIVITY_METRICS; i++) {
        json_t *interval = json_object();
        json_object_set_new(interval, "mean", kvc_json_number(parameter->elasticity[i].mean));
        json_object_set_new(interval, "ci95", kvc_json_number(parameter->elasticity[i].half_width));
        json_object_set_new(object, kvc_sensitivity_metric_names[i], interval);
    }
    return object;
}

static json_t *variance_shares(const struct kvc_sensitivity_parameter *parameter)
{
    json_t *object = json_object();
    for (int i = 0; i < KVC_SENSITIVITY_METRICS; i++) {
        json_object_set_new(object, kvc_sensitivity_metric_names[i],
                            kvc_json_number(parameter->variance_share_frac[i]));
    }
    return object;
}

static json_t *parameters(const struct kvc_sensitivity *sensitivity)
{
    static const char *const by[] = {[KVC_SENSITIVITY_FIXED] = "",
                                     [KVC_SENSITIVITY_CLOSED_FORM] = "closed form",
                                     [KVC_SENSITIVITY_RUNS] = "paired runs"};
    json_t *array = json_array();
    for (uint32_t i = 0; i < sensitivity->count; i++) {
        const struct kvc_sensitivity_parameter *parameter = &sensitivity->parameter[i];
        json_t *object = json_object();
        json_object_set_new(object, "path", kvc_json_text(parameter->path));
        json_object_set_new(object, "values", kvc_json_count(parameter->values));
        json_object_set_new(object, "value", kvc_json_text(parameter->value));
        json_object_set_new(object, "source", kvc_json_text(parameter->source));
        json_object_set_new(object, "by", kvc_json_text_or_null(by[parameter->by]));
        json_object_set_new(object, "not_run", json_boolean(parameter->not_run));
        json_object_set_new(object, "has_interval", json_boolean(parameter->has_interval));
        json_object_set_new(object, "elasticity", elasticities(parameter));
        json_object_set_new(object, "variance_share_frac",
                            parameter->has_interval ? variance_shares(parameter) : json_null());
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *uncertainty(const struct kvc_uncertainty *uncertainty)
{
    json_t *object = json_object();
    json_object_set_new(object, "draws", kvc_json_count(uncertainty->draws));
    json_object_set_new(object, "refused", kvc_json_count(uncertainty->refused));
    json_object_set_new(object, "values", kvc_json_count(uncertainty->values));
    json_object_set_new(object, "values_with_interval", kvc_json_count(uncertainty->with_interval));
    for (int i = 0; i < KVC_SENSITIVITY_METRICS && uncertainty->draws > 0; i++) {
        json_t *range = json_object();
        json_object_set_new(range, "low", kvc_json_number(uncertainty->range[i].low));
        json_object_set_new(range, "median", kvc_json_number(uncertainty->range[i].median));
        json_object_set_new(range, "high", kvc_json_number(uncertainty->range[i].high));
        json_object_set_new(object, kvc_sensitivity_metric_names[i], range);
    }
    return object;
}

json_t *kvc_sensitivity_json(const struct kvc_sensitivity *sensitivity)
{
    json_t *object = json_object();
    json_object_set_new(object, "latency_metric",
                        kvc_json_text(kvc_sensitivity_metric_names[sensitivity->latency]));
    json_object_set_new(object, "step_frac", kvc_json_number(sensitivity->step_frac));
    json_object_set_new(object, "replicas", kvc_json_count(sensitivity->replicas));
    json_object_set_new(object, "without_effect", kvc_json_count(sensitivity->without_effect));
    json_object_set_new(object, "fixed", kvc_json_count(sensitivity->fixed));
    json_object_set_new(object, "not_run", kvc_json_count(sensitivity->not_run));
    json_object_set_new(object, "parameters", parameters(sensitivity));
    json_object_set_new(object, "uncertainty", uncertainty(&sensitivity->uncertainty));
    return object;
}
