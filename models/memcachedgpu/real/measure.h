/* Runs a MemcachedGPU scenario for real on this machine and fills in the same result as a simulated run. */
#ifndef KVC_MODELS_MEMCACHEDGPU_REAL_MEASURE_H
#define KVC_MODELS_MEMCACHEDGPU_REAL_MEASURE_H

#include "sim/base/diag.h"
#include "sim/base/progress.h"
#include "sim/metrics/result.h"
#include "sim/scenario.h"

/* Checks whether this machine can run the scenario. A measurement allows packets from host memory on one
 * node, a saturating load of GETs, and one set-associative table without expiry; it needs a core for GNoM-pre
 * and one for each GNoM-post thread. */
enum kvc_status kvc_memcachedgpu_measure_check(const struct kvc_scenario *scenario, struct kvc_diag *diag);

/* Opens a node for the scenario's workload, warms up (kvc_run_real_warmup_ns) and measures for run.duration
 * of wall clock, or for up to six times as long until half of this duration was quiet (sim/probes/quiet.h).
 * All metrics cover the quiet windows only. Threads are pinned to the first cores. Returns KVC_ERR_SCENARIO
 * if the scenario cannot be measured here, and KVC_ERR_RUNTIME if the program was built without CUDA, there
 * is no GPU, it fails, memory is short, or a frame is wrong. */
enum kvc_status kvc_memcachedgpu_measure(const struct kvc_scenario *scenario,
                                         const struct kvc_progress *progress, struct kvc_result *result,
                                         struct kvc_diag *diag);

#endif
