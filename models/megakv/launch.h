/* What a launch of index operations makes the GPU do. */
#ifndef KVC_MODELS_MEGAKV_LAUNCH_H
#define KVC_MODELS_MEGAKV_LAUNCH_H

#include <stdint.h>

#include "kernels/megakv/cuckoo.h"
#include "sim/devices/gpu.h"

/* `stats`: what the index kernel counted so far; NULL: nothing is known, typical numbers of a half-full
 * table. */
struct kvc_gpu_work kvc_megakv_gpu_work(enum kvc_gpu_kernel kernel, double jobs, uint32_t streams,
                                        const struct kvc_index_stats *stats);

#endif
