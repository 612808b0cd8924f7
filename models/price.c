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

struct kvc_price kvc_scenario_node_price(const struct kvc_scenario *scenario)
{
    double rest_usd = scenario->node.price_usd;
    struct kvc_price price = {.usd = isnan(rest_usd) ? 0 : rest_usd};
    for (const struct kvc_device *device = scenario->node.device; device->kind != NULL; device++) {
        double each_usd = device->kind->price_usd != NULL ? device->kind->price_usd(device->values) : 0;
        if (isnan(each_usd)) {
            kvc_missing_add(price.missing, device->kind->name);
        } else {
            price.usd += each_usd * count_of(scenario, device->kind);
        }
    }
    return price;
}

struct kvc_price kvc_scenario_price(const struct kvc_scenario *scenario)
{
    struct kvc_price sum = {.usd = 0};
    if (scenario->cluster.member_count == 0) {
        sum = kvc_scenario_node_price(scenario);
        sum.usd *= (double)scenario->cluster.nodes;
        return sum;
    }
    for (uint32_t class = 0; class < kvc_cluster_classes(scenario); class ++) {
        struct kvc_diag ignored = {0};
        struct kvc_scenario *node = kvc_cluster_class_scenario(scenario, class, &ignored);
        if (node == NULL) {
            kvc_missing_add(sum.missing, kvc_cluster_class_name(scenario, class));
            continue;
        }
        struct kvc_price price = kvc_scenario_node_price(node);
        sum.usd += (double)kvc_cluster_class_nodes(scenario, class) * price.usd;
        kvc_missing_add(sum.missing, price.missing);
        kvc_cluster_free_class(node);
    }
    return sum;
}

double kvc_price_whole_usd(const struct kvc_price *price)
{
    return price->missing[0] == '\0' ? price->usd : NAN;
}
