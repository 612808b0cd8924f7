/* The pipeline of a composed store, for pictures. */
#ifndef KVC_MODELS_COMPOSED_PIPELINE_H
#define KVC_MODELS_COMPOSED_PIPELINE_H

#include "models/pipeline.h"

kvc_pipeline_fn kvc_composed_pipeline;

#endif
