/* The threads of a real MemcachedGPU node, GNoM-pre on the first core and GNoM-post on the next ones, and the
 * result of their run. */
#ifndef KVC_MODELS_MEMCACHEDGPU_REAL_THREADS_H
#define KVC_MODELS_MEMCACHEDGPU_REAL_THREADS_H

#include "models/memcachedgpu/real/node.h"
#include "sim/metrics/result.h"

/* Runs an open node: it warms up and measures as kvc_memcachedgpu_measure() says, and fills in the metrics of
 * the quiet windows, with intervals, and the raw metrics of all windows. t_search_us is the time of a GET
 * kernel from the first start of a block to the last end, and jobs_per_search its packets. streams_mean is
 * the number of batches in flight. The histogram in `result` must be empty. Returns KVC_ERR_RUNTIME if a
 * thread cannot be started, the GPU fails, or a frame is wrong. */
enum kvc_status kvc_memcachedgpu_real_threads_run(struct kvc_memcachedgpu_real_node *node,
                                                  const struct kvc_run *run,
                                                  const struct kvc_progress *progress,
                                                  struct kvc_result *result, struct kvc_diag *diag);

#endif
