/* The physical resources of BlueCache, each of which could be bought faster. */
#ifndef KVC_MODELS_BLUECACHE_RESOURCES_H
#define KVC_MODELS_BLUECACHE_RESOURCES_H

#include "models/resource.h"

extern const struct kvc_model_resource kvc_bluecache_resources[];

#endif
