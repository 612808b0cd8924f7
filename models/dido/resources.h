#ifndef KVC_MODELS_DIDO_RESOURCES_H
#define KVC_MODELS_DIDO_RESOURCES_H

#include "models/resource.h"

/* The physical resources of DIDO's machine. */
extern const struct kvc_model_resource kvc_dido_resources[];

#endif
