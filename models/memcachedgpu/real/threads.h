/* The threads of a real MemcachedGPU node, GNoM-pre on the first core and GNoM-post on the next ones, and the
 * result of their run. */
#ifndef KVC_MODELS_MEMCACHEDGPU_REAL_THREADS_H
#define KVC_MODELS_MEMCACHEDGPU_REAL_THREADS_H

#include "models/measured/measured.h"
#include "models/memcachedgpu/real/node.h"
#include "sim/base/diag.h"

/* Adds the threads of an open node to a run, and fills in *reports. t_search_us is the time of a GET kernel
 * from the first start of a block to the last end, and jobs_per_search its packets. streams_mean is the
 * number of batches in flight. */
void kvc_memcachedgpu_real_threads_join(void *node, struct kvc_measured *measured,
                                        struct kvc_measured_store *reports);

/* Waits for the batches in flight of a node whose threads have ended, and checks its last frames. Returns
 * KVC_ERR_RUNTIME if the GPU failed or a frame is wrong. */
enum kvc_status kvc_memcachedgpu_real_threads_finish(void *node, struct kvc_diag *diag);

#endif
