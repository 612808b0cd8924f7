#include "models/resource.h"

#include <stdlib.h>
#include <string.h>

#include "models/model.h"

static void *copy_of(const void *from, size_t bytes)
{
    void *copy = malloc(bytes);
    if (copy == NULL) {
        kvc_out_of_memory("the copy of a scenario");
    }
    return memcpy(copy, from, bytes);
}

bool kvc_resource_is_used(const struct kvc_model_resource *resource, const struct kvc_scenario *scenario)
{
    return resource->used == NULL || resource->used(scenario);
}

const struct kvc_model_resource *kvc_scenario_resource(const struct kvc_scenario *scenario,
                                                       const char *device)
{
    const struct kvc_model_resource *resource = scenario->model->resources;
    for (; resource != NULL && resource->name != NULL; resource++) {
        if (strcmp(resource->device, device) == 0 && kvc_resource_is_used(resource, scenario)) {
            return resource;
        }
    }
    return NULL;
}

struct kvc_scenario *kvc_scenario_copy(const struct kvc_scenario *scenario)
{
    struct kvc_scenario *copy = copy_of(scenario, sizeof(*scenario));
    if (scenario->options != NULL) {
        copy->options = copy_of(scenario->options, scenario->model->options->size);
    }
    for (struct kvc_device *device = copy->node.device; device->kind != NULL; device++) {
        device->values = copy_of(device->values, device->kind->options->size);
    }
    copy->config = NULL; /* The original's. */
    return copy;
}

void kvc_scenario_free_copy(struct kvc_scenario *scenario)
{
    if (scenario == NULL) {
        return;
    }
    kvc_scenario_unresolve(scenario);
    kvc_node_free(&scenario->node);
    free(scenario->options);
    free(scenario);
}

struct kvc_scenario *kvc_scenario_faster(const struct kvc_scenario *scenario,
                                         const struct kvc_model_resource *resource, double factor,
                                         struct kvc_diag *diag)
{
    struct kvc_scenario *faster = kvc_scenario_copy(scenario);
    faster->config = scenario->config; /* speed_up reads it. */
    resource->speed_up(faster, factor);
    faster->config = NULL;
    if (kvc_scenario_resolve(faster, diag) != KVC_OK) {
        kvc_scenario_free_copy(faster);
        return NULL;
    }
    return faster;
}
