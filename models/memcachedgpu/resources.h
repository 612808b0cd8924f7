/* The resources of MemcachedGPU's servers. */
#ifndef KVC_MODELS_MEMCACHEDGPU_RESOURCES_H
#define KVC_MODELS_MEMCACHEDGPU_RESOURCES_H

#include "models/resource.h"

extern const struct kvc_model_resource kvc_memcachedgpu_resources[];

#endif
