#include "models/cluster/cluster_resource.h"

#include "models/cluster/cluster.h"
#include "models/model.h"

bool kvc_cluster_resource_is_used(const struct kvc_model_resource *resource,
                                  const struct kvc_scenario *scenario)
{
    bool used = false;
    for (uint32_t i = 0; i < kvc_cluster_classes(scenario) && !used; i++) {
        struct kvc_diag unused = {0};
        struct kvc_scenario *class = kvc_cluster_class_scenario(scenario, i, &unused);
        used = class != NULL && kvc_resource_is_used(resource, class);
        kvc_cluster_free_class(class);
    }
    return used;
}

/* Makes the resource of a class faster in the copy, which owns the options and devices that are changed. */
static enum kvc_status speed_class(const struct kvc_scenario *scenario, uint32_t class,
                                   const struct kvc_model_resource *resource, double factor,
                                   struct kvc_scenario *copy, struct kvc_diag *diag)
{
    bool is_member = copy->cluster.member_count > 0;
    void *options = is_member ? copy->cluster.member[class].options : copy->options;
    struct kvc_node *node = is_member ? &copy->cluster.member[class].node : &copy->node;
    /* It keeps the configuration of the original, which speed_up reads. */
    struct kvc_scenario *faster = kvc_cluster_class_scenario(scenario, class, diag);
    if (faster == NULL) {
        return diag->status;
    }
    if (kvc_resource_is_used(resource, faster)) {
        faster->options = options;
        faster->node = *node;
        resource->speed_up(faster, factor);
        *node = faster->node;
    }
    kvc_cluster_free_class(faster);
    return KVC_OK;
}

struct kvc_scenario *kvc_cluster_faster(const struct kvc_scenario *scenario,
                                        const struct kvc_model_resource *resource, double factor,
                                        struct kvc_diag *diag)
{
    struct kvc_scenario *copy = kvc_scenario_copy(scenario);
    enum kvc_status status = KVC_OK;
    for (uint32_t i = 0; i < kvc_cluster_classes(scenario) && status == KVC_OK; i++) {
        status = speed_class(scenario, i, resource, factor, copy, diag);
    }
    if (status == KVC_OK) {
        status = kvc_scenario_resolve(copy, diag);
    }
    if (status != KVC_OK) {
        kvc_scenario_free_copy(copy);
        return NULL;
    }
    return copy;
}
