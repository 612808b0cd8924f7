/* DIDO's data sets as workload presets (ICDE 2017, sec. V.A). The store itself is not modelled. */
#ifndef KVC_MODELS_DIDO_PRESETS_H
#define KVC_MODELS_DIDO_PRESETS_H

#include "sim/workload/presets.h"

/* The name of the last entry is NULL. */
extern const struct kvc_workload_preset kvc_dido_presets[];

#endif
