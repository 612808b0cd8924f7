/* What a launch of index operations makes the GPU do. */
#ifndef KVC_MODELS_MEGAKV_LAUNCH_H
#define KVC_MODELS_MEGAKV_LAUNCH_H

#include <stdint.h>

#include "kernels/megakv/cuckoo.h"
#include "sim/devices/gpu.h"

/* The two kernels of the index. */
enum kvc_megakv_kernel {
    KVC_MEGAKV_KERNEL_SEARCH,
    KVC_MEGAKV_KERNEL_INSERT, /* inserts and deletes */
};

/* The line that was fitted to launches of this kernel at the clock pair. NULL: the pair has no fit. */
const struct kvc_gpu_fit *kvc_megakv_gpu_fit(const struct kvc_gpu_clock *clock,
                                             enum kvc_megakv_kernel kernel);

/* `stats`: what the index kernel counted so far; NULL: nothing is known, typical numbers of a half-full
 * table. */
struct kvc_gpu_work kvc_megakv_gpu_work(enum kvc_megakv_kernel kernel, double jobs, uint32_t streams,
                                        const struct kvc_index_stats *stats);

#endif
