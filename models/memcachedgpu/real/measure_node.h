/* Measures a real MemcachedGPU node with given parameters. */
#ifndef KVC_MODELS_MEMCACHEDGPU_REAL_MEASURE_NODE_H
#define KVC_MODELS_MEMCACHEDGPU_REAL_MEASURE_NODE_H

#include "models/memcachedgpu/real/params.h"
#include "sim/base/diag.h"
#include "sim/base/progress.h"
#include "sim/metrics/result.h"
#include "sim/scenario.h"

/* Opens a node for the scenario's workload, warms up (kvc_run_real_warmup_ns) and measures for run.duration
 * of wall clock, or for up to six times as long until half of this duration was quiet
 * (sim/probes/quiet.h). All metrics cover the quiet windows only. Threads are pinned to the first cores.
 * Returns KVC_ERR_RUNTIME if the program was built without CUDA, there is no GPU, it fails, memory is short,
 * or a frame is wrong. */
enum kvc_status kvc_memcachedgpu_real_measure_node(const struct kvc_scenario *scenario,
                                                   const struct kvc_memcachedgpu_real_params *params,
                                                   const struct kvc_progress *progress,
                                                   struct kvc_result *result, struct kvc_diag *diag);

#endif
