/* Stages of a store over RDMA, and the resources that may be its bottleneck. */
#ifndef KVC_MODELS_RDMA_RESOURCES_H
#define KVC_MODELS_RDMA_RESOURCES_H

#include "models/resource.h"

/* Indexes into the list of stages, by which the recorder numbers them. */
enum kvc_rdma_stage {
    KVC_RDMA_AT_RECEIVE,
    KVC_RDMA_AT_MESSAGE,
    KVC_RDMA_AT_CORE,
    KVC_RDMA_AT_KEY,
    KVC_RDMA_AT_SEND,
    KVC_RDMA_STAGES,
};

kvc_stages_fn kvc_rdma_stages;

extern const struct kvc_model_resource kvc_rdma_resources[];

#endif
