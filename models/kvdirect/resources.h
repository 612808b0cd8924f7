/* KV-Direct's resources, of which one may be its bottleneck. */
#ifndef KVC_MODELS_KVDIRECT_RESOURCES_H
#define KVC_MODELS_KVDIRECT_RESOURCES_H

#include "models/resource.h"

extern const struct kvc_model_resource kvc_kvdirect_resources[];

#endif
