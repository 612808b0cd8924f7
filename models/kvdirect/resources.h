/* Stages of a NIC, and the resources, of which one may be the bottleneck. */
#ifndef KVC_MODELS_KVDIRECT_RESOURCES_H
#define KVC_MODELS_KVDIRECT_RESOURCES_H

#include "models/resource.h"

/* Places in the list of stages, which are the numbers of the recorder's stages. */
enum kvc_kvdirect_stage {
    KVC_KVDIRECT_AT_RECEIVE,
    KVC_KVDIRECT_AT_DECODE,
    KVC_KVDIRECT_AT_ACCESS,
    KVC_KVDIRECT_AT_PCIE,
    KVC_KVDIRECT_AT_MEMORY,
    KVC_KVDIRECT_AT_GATHER,
    KVC_KVDIRECT_AT_DRAM,
    KVC_KVDIRECT_AT_LAMBDA,
    KVC_KVDIRECT_AT_DAEMON,
    KVC_KVDIRECT_AT_SEND,
    KVC_KVDIRECT_STAGES,
};

kvc_stages_fn kvc_kvdirect_stages;

extern const struct kvc_model_resource kvc_kvdirect_resources[];

#endif
