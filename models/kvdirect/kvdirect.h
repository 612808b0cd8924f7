/* KV-Direct's entry in the registry of stores. */
#ifndef KVC_MODELS_KVDIRECT_KVDIRECT_H
#define KVC_MODELS_KVDIRECT_KVDIRECT_H

#include "models/model.h"

extern const struct kvc_model kvc_kvdirect_model;

#endif
