/* DIDO's 24 workloads as presets (ICDE 2017, sec. V.A): four data sets, three mixes of YCSB and two
 * popularities. "K8-G95-S" has keys of 8 bytes, 95 % GETs and skewed popularity; "-U" is uniform. */
#ifndef KVC_MODELS_DIDO_PRESETS_H
#define KVC_MODELS_DIDO_PRESETS_H

#include "sim/workload/presets.h"

enum { KVC_DIDO_PRESETS = 24 };

/* The name of the last entry is NULL. */
extern const struct kvc_workload_preset kvc_dido_presets[];

#endif
