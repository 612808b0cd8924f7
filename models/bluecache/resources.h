/* Stages of BlueCache, and the resources that may be its bottleneck. */
#ifndef KVC_MODELS_BLUECACHE_RESOURCES_H
#define KVC_MODELS_BLUECACHE_RESOURCES_H

#include "models/resource.h"

/* Indexes into the list of stages, by which the recorder numbers them. */
enum kvc_bluecache_stage {
    KVC_BLUECACHE_AT_CALL,
    KVC_BLUECACHE_AT_IN,
    KVC_BLUECACHE_AT_FABRIC,
    KVC_BLUECACHE_AT_SEARCH,
    KVC_BLUECACHE_AT_CONTROLLER,
    KVC_BLUECACHE_AT_CHANNELS,
    KVC_BLUECACHE_AT_CHIPS,
    KVC_BLUECACHE_AT_INTERFACE,
    KVC_BLUECACHE_AT_OUT,
    KVC_BLUECACHE_AT_WAKE,
    KVC_BLUECACHE_AT_DATABASE,
    KVC_BLUECACHE_STAGES,
};

kvc_stages_fn kvc_bluecache_stages;

extern const struct kvc_model_resource kvc_bluecache_resources[];

#endif
