/* Stages of MemcachedGPU, and the resources that may be its bottleneck. */
#ifndef KVC_MODELS_MEMCACHEDGPU_RESOURCES_H
#define KVC_MODELS_MEMCACHEDGPU_RESOURCES_H

#include "models/resource.h"

/* Indexes into the list of stages, by which the recorder numbers them. */
enum kvc_memcachedgpu_stage {
    KVC_MEMCACHEDGPU_RX,
    KVC_MEMCACHEDGPU_RECEIVE,
    KVC_MEMCACHEDGPU_LAUNCH,
    KVC_MEMCACHEDGPU_COPY_IN,
    KVC_MEMCACHEDGPU_GPU,
    KVC_MEMCACHEDGPU_COPY_OUT,
    KVC_MEMCACHEDGPU_ANSWER,
    KVC_MEMCACHEDGPU_TX,
    KVC_MEMCACHEDGPU_SET,
    KVC_MEMCACHEDGPU_STAGES,
};

kvc_stages_fn kvc_memcachedgpu_stages;

extern const struct kvc_model_resource kvc_memcachedgpu_resources[];

#endif
