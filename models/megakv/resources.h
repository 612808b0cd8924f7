/* Mega-KV's resources, of which one may be its bottleneck. */
#ifndef KVC_MODELS_MEGAKV_RESOURCES_H
#define KVC_MODELS_MEGAKV_RESOURCES_H

#include "models/resource.h"

extern const struct kvc_model_resource kvc_megakv_resources[];

#endif
