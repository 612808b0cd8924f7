/* Mega-KV's entry in the registry of stores. */
#ifndef KVC_MODELS_MEGAKV_MEGAKV_H
#define KVC_MODELS_MEGAKV_MEGAKV_H

#include "models/model.h"

extern const struct kvc_model kvc_megakv_model;

#endif
