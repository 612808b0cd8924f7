/* MemcachedGPU, as a store of the registry. */
#ifndef KVC_MODELS_MEMCACHEDGPU_MEMCACHEDGPU_H
#define KVC_MODELS_MEMCACHEDGPU_MEMCACHEDGPU_H

#include "models/model.h"

extern const struct kvc_model kvc_memcachedgpu_model;

#endif
