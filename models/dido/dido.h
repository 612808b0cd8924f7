#ifndef KVC_MODELS_DIDO_DIDO_H
#define KVC_MODELS_DIDO_DIDO_H

#include "models/model.h"

extern const struct kvc_model kvc_dido_model;

#endif
