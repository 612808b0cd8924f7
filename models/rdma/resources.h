/* Resources of a store over RDMA, of which one may be its bottleneck. */
#ifndef KVC_MODELS_RDMA_RESOURCES_H
#define KVC_MODELS_RDMA_RESOURCES_H

#include "models/resource.h"

extern const struct kvc_model_resource kvc_rdma_resources[];

#endif
