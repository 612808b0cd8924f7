/* A store that the scenario composes of stages, an index and values. */
#ifndef KVC_MODELS_COMPOSED_COMPOSED_H
#define KVC_MODELS_COMPOSED_COMPOSED_H

#include "models/model.h"

extern const struct kvc_model kvc_composed_model;

#endif
