/* Resources (models/resource.h) of a cluster whose nodes are looked at class by class: those that are
 * simulated apart, and those of different machines.
 *
 * A resource becomes faster in every class of nodes that takes time of it, whether its devices are the
 * scenario's or the member's own. Options that are "auto" stay as each class had them resolved, because a
 * node has fewer keys than the whole. */
#ifndef KVC_MODELS_CLUSTER_CLUSTER_RESOURCE_H
#define KVC_MODELS_CLUSTER_CLUSTER_RESOURCE_H

#include <stdbool.h>

#include "models/resource.h"

/* Returns whether the requests of some class take any of the resource. */
bool kvc_cluster_resource_is_used(const struct kvc_model_resource *resource,
                                  const struct kvc_scenario *scenario);

/* Returns a resolved copy of the scenario in which the resource is faster in all classes; NULL after an
 * error. kvc_scenario_free_copy() frees it. */
struct kvc_scenario *kvc_cluster_faster(const struct kvc_scenario *scenario,
                                        const struct kvc_model_resource *resource, double factor,
                                        struct kvc_diag *diag);

#endif
