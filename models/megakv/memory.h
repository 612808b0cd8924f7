/* The memory that a simulation of Mega-KV takes, told before it starts. */
#ifndef KVC_MODELS_MEGAKV_MEMORY_H
#define KVC_MODELS_MEGAKV_MEMORY_H

#include "sim/scenario.h"

/* Returns the memory of stores, buffers and recorder of a replica [bytes]. */
double kvc_megakv_memory_bytes(const struct kvc_scenario *scenario);

#endif
