/* Mega-KV's part of a calibration: launches of its index and the stages of its pipeline, as values of a
 * machine file. */
#ifndef KVC_MODELS_MEGAKV_REAL_CALIBRATE_H
#define KVC_MODELS_MEGAKV_REAL_CALIBRATE_H

#include "models/model.h"

/* Adds to the profile: the store's cost curves, the fits that give the fields of cpu, dram and gpu,
 * the launches as comments, and a summary. The index is on the GPU if there is one, else on a thread.
 * Returns KVC_ERR_RUNTIME if memory is short, threads cannot be started, or no line fits the times. */
enum kvc_status kvc_megakv_calibrate(const struct kvc_calibration *calibration, struct kvc_diag *diag);

#endif
