/* MemcachedGPU's part of a calibration: the costs of its kernels, calls and responses, as values of a machine
 * file. */
#ifndef KVC_MODELS_MEMCACHEDGPU_REAL_CALIBRATE_H
#define KVC_MODELS_MEMCACHEDGPU_REAL_CALIBRATE_H

#include "models/model.h"

/* Adds to the profile: the fields of memcachedgpu_costs, the survey as comments, and a summary. Without a
 * GPU, or in a program that was built without CUDA, it adds nothing but a line of the summary. The CPU's part
 * of a SET through TCP is not measured. Returns KVC_ERR_RUNTIME if the GPU fails or memory is short. */
enum kvc_status kvc_memcachedgpu_calibrate(const struct kvc_calibration *calibration, struct kvc_diag *diag);

#endif
