/* Runs a DIDO scenario for real on this machine and fills in the same result as a simulated run. */
#ifndef KVC_MODELS_DIDO_REAL_MEASURE_H
#define KVC_MODELS_DIDO_REAL_MEASURE_H

#include "sim/base/diag.h"
#include "sim/base/progress.h"
#include "sim/metrics/result.h"
#include "sim/scenario.h"

/* Checks whether this machine can run the scenario. Stealing, the network, sampled stores, and pipelines that
 * kvc_dido_real_gpu_check() refuses can be simulated but not measured. The stages must not need more cores
 * than there are; the thread of a stage on the GPU needs one. Arrivals that cannot be played are only
 * detected when kvc_dido_measure prepares them. */
enum kvc_status kvc_dido_measure_check(const struct kvc_scenario *scenario, struct kvc_diag *diag);

/* Creates and preloads the store, warms up (kvc_run_real_warmup_ns) and measures for run.duration of wall
 * clock, or for up to six times as long until half of this duration was quiet (sim/probes/quiet.h). Each
 * thread of a stage has a core. The metrics cover the quiet windows, as
 * models/measured/measured.h says, and include the time of each task.
 * Returns KVC_ERR_SCENARIO if the scenario cannot be measured here, and KVC_ERR_RUNTIME if memory is short,
 * threads cannot be started, or the GPU fails. */
enum kvc_status kvc_dido_measure(const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                                 struct kvc_result *result, struct kvc_diag *diag);

#endif
