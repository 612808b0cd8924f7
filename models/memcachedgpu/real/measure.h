/* Runs a MemcachedGPU scenario for real on this machine and gives the result that a simulated run would give.
 */
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

/* Measures the scenario: see kvc_memcachedgpu_real_measure_node(). Returns KVC_ERR_SCENARIO if it cannot be
 * measured here. */
enum kvc_status kvc_memcachedgpu_measure(const struct kvc_scenario *scenario,
                                         const struct kvc_progress *progress, struct kvc_result *result,
                                         struct kvc_diag *diag);

#endif
