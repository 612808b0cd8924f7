/* Stages of Mega-KV, and the resources that may be its bottleneck. */
#ifndef KVC_MODELS_MEGAKV_RESOURCES_H
#define KVC_MODELS_MEGAKV_RESOURCES_H

#include "models/resource.h"

/* Stages whose busy time the recorder adds up. The first ones are indexes into the list of stages; inserts
 * are part of the stage "index", as searches are. */
enum kvc_megakv_stage {
    KVC_MEGAKV_RX,
    KVC_MEGAKV_RECEIVE,
    KVC_MEGAKV_SEARCH,
    KVC_MEGAKV_SEND,
    KVC_MEGAKV_TX,
    KVC_MEGAKV_DATABASE,
    KVC_MEGAKV_STAGES,
    KVC_MEGAKV_INSERT = KVC_MEGAKV_STAGES,
};

kvc_stages_fn kvc_megakv_stages;

extern const struct kvc_model_resource kvc_megakv_resources[];

#endif
