/* A resource of a store: a part of its machine that could be bought faster, such as the cores or the NIC.
 *
 * The bottleneck of a scenario is the resource whose being a little faster gains most throughput. A resource
 * therefore is what can be made faster by itself: all times and rates that it consists of, and nothing else.
 * What a stage of the pipeline takes may come from several resources, such as cores and their memory. */
#ifndef KVC_MODELS_RESOURCE_H
#define KVC_MODELS_RESOURCE_H

#include <stdbool.h>

#include "sim/base/diag.h"
#include "sim/scenario.h"

enum { KVC_RESOURCES_MAX = 12, KVC_RESOURCE_STAGES_MAX = 6 };

struct kvc_model_resource {
    const char *name;   /* "gpu", "host-memory". */
    const char *device; /* Kind of device, as stages and devices of results name it. */
    /* Names of the stages that spend time on it; NULL ends the list. */
    const char *stages[KVC_RESOURCE_STAGES_MAX + 1];
    /* Returns whether the requests of a resolved scenario take any of it. NULL: always. */
    bool (*used)(const struct kvc_scenario *scenario);
    /* Makes it faster in a scenario that owns its options and devices: rates times the factor, times over it.
     * The scenario still has the configuration of the original, and is resolved again afterwards. Options
     * that "auto" derives from the speed of devices are to be set as the original resolved them, so that the
     * store differs in nothing but the speed. */
    void (*speed_up)(struct kvc_scenario *scenario, double factor);
};

/* Returns whether the requests of a resolved scenario take any of a resource. */
bool kvc_resource_is_used(const struct kvc_model_resource *resource, const struct kvc_scenario *scenario);

/* Returns the first resource of a kind of device that the requests of a resolved scenario take time of; NULL:
 * there is none. */
const struct kvc_model_resource *kvc_scenario_resource(const struct kvc_scenario *scenario,
                                                       const char *device);

/* Returns a copy of a scenario with its own options, devices and members of the cluster, which is not
 * resolved yet. */
struct kvc_scenario *kvc_scenario_copy(const struct kvc_scenario *scenario);

/* Frees such a copy, with its configuration. NULL is allowed. */
void kvc_scenario_free_copy(struct kvc_scenario *scenario);

/* Returns a copy of a resolved scenario in which the resource is faster, with its own options, devices and
 * configuration; NULL after an error. kvc_scenario_free_copy() frees it. */
struct kvc_scenario *kvc_scenario_faster(const struct kvc_scenario *scenario,
                                         const struct kvc_model_resource *resource, double factor,
                                         struct kvc_diag *diag);

#endif
