#include "models/price.h"

#include <math.h>

#include "models/cluster/cluster.h"
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

/* Returns the price of a cluster whose members differ. */
static double members_usd(const struct kvc_scenario *scenario, const struct kvc_device_kind **unknown)
{
    double sum_usd = 0;
    for (uint32_t class = 0; class < kvc_cluster_classes(scenario); class ++) {
        const struct kvc_device_kind *of_class = NULL;
        struct kvc_diag diag = {0};
        struct kvc_scenario *node = kvc_cluster_class_scenario(scenario, class, &diag);
        double nodes = (double)kvc_cluster_class_nodes(scenario, class);
        sum_usd += node != NULL ? nodes * kvc_scenario_node_price_usd(node, &of_class) : NAN;
        if (unknown != NULL && *unknown == NULL) {
            *unknown = of_class;
        }
        kvc_cluster_free_class(node);
    }
    return sum_usd;
}

double kvc_scenario_price_usd(const struct kvc_scenario *scenario, const struct kvc_device_kind **unknown)
{
    if (scenario->cluster.member_count > 0) {
        if (unknown != NULL) {
            *unknown = NULL;
        }
        return members_usd(scenario, unknown);
    }
    return (double)scenario->cluster.nodes * kvc_scenario_node_price_usd(scenario, unknown);
}
