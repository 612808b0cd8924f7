/* The result of a measured run of MemcachedGPU, with the metrics of a simulated one. */
#ifndef KVC_MODELS_MEMCACHEDGPU_REAL_REPORT_H
#define KVC_MODELS_MEMCACHEDGPU_REAL_REPORT_H

#include "models/memcachedgpu/real/windows.h"
#include "sim/probes/watched.h"

/* Fills in what the node did in the quiet windows, with intervals, and the raw metrics of all windows.
 * Without a quiet window all windows count and a note says so. t_search_us is the time of a GET kernel from
 * the first begin of a block to the last end, jobs_per_search its packets. streams_mean is the number of
 * batches in flight. The histogram in `result` must be empty. */
void kvc_memcachedgpu_real_report(const struct kvc_memcachedgpu_real_node *node,
                                  struct kvc_memcachedgpu_real_windows *windows, struct kvc_result *result);

#endif
