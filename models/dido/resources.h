/* Stages of DIDO, and the resources that may be its bottleneck. */
#ifndef KVC_MODELS_DIDO_RESOURCES_H
#define KVC_MODELS_DIDO_RESOURCES_H

#include "models/resource.h"

/* Returns the stages of the longest pipeline of a run. */
uint32_t kvc_dido_stages_most(const struct kvc_scenario *scenario);

kvc_stages_fn kvc_dido_stages;

extern const struct kvc_model_resource kvc_dido_resources[];

#endif
