#include "models/price.h"

#include <math.h>

#include "models/model.h"

static double count_of(const struct kvc_scenario *scenario, const struct kvc_device_kind *kind)
{
    const struct kvc_model *model = scenario->model;
    if (model->device_count != NULL) {
        return model->device_count(scenario, kind);
    }
    return model->has_sockets ? (double)scenario->node.sockets : 1;
}

double kvc_scenario_node_price_usd(const struct kvc_scenario *scenario,
                                   const struct kvc_device_kind **unknown)
{
    const struct kvc_device_kind *first = NULL;
    double rest_usd = scenario->node.price_usd, sum_usd = isnan(rest_usd) ? 0 : rest_usd;
    for (const struct kvc_device *device = scenario->node.device; device->kind != NULL; device++) {
        if (device->kind->price_usd == NULL) {
            continue;
        }
        double each_usd = device->kind->price_usd(device->values);
        if (isnan(each_usd) && first == NULL) {
            first = device->kind;
        }
        sum_usd += each_usd * count_of(scenario, device->kind);
    }
    if (unknown != NULL) {
        *unknown = first;
    }
    return sum_usd;
}

double kvc_scenario_price_usd(const struct kvc_scenario *scenario, const struct kvc_device_kind **unknown)
{
    return (double)scenario->cluster.nodes * kvc_scenario_node_price_usd(scenario, unknown);
}
