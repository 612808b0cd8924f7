/* Runs a Mega-KV scenario for real on this machine and fills in the same result as a simulated run. */
#ifndef KVC_MODELS_MEGAKV_REAL_MEASURE_H
#define KVC_MODELS_MEGAKV_REAL_MEASURE_H

#include "sim/base/diag.h"
#include "sim/base/progress.h"
#include "sim/metrics/result.h"
#include "sim/scenario.h"

/* Checks whether this machine can run the scenario. Several sockets or nodes, a network feed
 * and sampled stores can be simulated but not measured, and a scenario must not need more threads
 * than there are cores. Arrivals that cannot be played are only detected when kvc_megakv_measure prepares
 * them. */
enum kvc_status kvc_megakv_measure_check(const struct kvc_scenario *scenario, struct kvc_diag *diag);

/* Creates and preloads the store, warms up (kvc_run_real_warmup_ns) and measures for run.duration of wall
 * clock, or for up to six times as long until half of this duration was quiet. The index is where
 * system.index_on puts it, and threads are pinned to the first cores as system.threads lays them out.
 *
 * All metrics cover the quiet windows only (sim/probes/quiet.h). quiet_frac and windows tell how many
 * these are, the metrics *_half_frac are half the width of the 95 % interval of a metric relative to it, by
 * batch means, and raw_throughput_mops, raw_latency_mean_us and raw_latency_p99_us cover all windows. If no
 * window is quiet, all metrics cover all windows and have no intervals. core_speed is the mean fast speed of
 * the cores [steps/ns] (sim/probes/core_watch.h). others_frac, stalled_frac and slowest_core_frac tell how
 * much the machine disturbed the run.
 * Returns KVC_ERR_SCENARIO if the scenario cannot be measured here, and KVC_ERR_RUNTIME if memory is short,
 * threads cannot be started, the GPU is missing or fails, or a value does not belong to its key. */
enum kvc_status kvc_megakv_measure(const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                                   struct kvc_result *result, struct kvc_diag *diag);

#endif
