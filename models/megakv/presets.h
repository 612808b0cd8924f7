/* Mega-KV's data sets as workload presets (VLDB J. 26(5), 2017, sec. 8.1). */
#ifndef KVC_MODELS_MEGAKV_PRESETS_H
#define KVC_MODELS_MEGAKV_PRESETS_H

#include "sim/workload/presets.h"

/* The name of the last entry is NULL. */
extern const struct kvc_workload_preset kvc_megakv_presets[];

#endif
