/* The interface of a store that this machine can run for real, and its measured run.
 *
 * A run opens the store, lets it join with its tasks, starts its clock, and runs the tasks in windows
 * (models/measured/measured.h) before it finishes and closes the store. */
#ifndef KVC_MODELS_MEASURED_MEASURABLE_H
#define KVC_MODELS_MEASURED_MEASURABLE_H

#include "models/measured/measured.h"
#include "sim/base/diag.h"
#include "sim/base/progress.h"
#include "sim/metrics/result.h"
#include "sim/scenario.h"

/* Functions that return a status say why they failed: KVC_ERR_SCENARIO if this machine cannot run the
 * scenario, KVC_ERR_RUNTIME if memory is short, the device is missing, or the store has failed. */
struct kvc_measurable {
    /* Checks whether this machine can run the scenario. */
    enum kvc_status (*check)(const struct kvc_scenario *scenario, struct kvc_diag *diag);
    /* Builds and preloads the store of a checked scenario. *store must be closed even after an error. */
    enum kvc_status (*open)(const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                            void **store, struct kvc_diag *diag);
    void (*close)(void *store); /* NULL is allowed. */
    /* Adds the store's tasks to a run, and fills in *reports. */
    void (*join)(void *store, struct kvc_measured *measured, struct kvc_measured_store *reports);
    /* Sets time 0 of the store's clock, before its tasks run for the first time or again [s]. */
    void (*set_clock)(void *store, double started_s);
    /* Checks the work of a store whose tasks have ended. */
    enum kvc_status (*finish)(void *store, struct kvc_diag *diag);
};

/* Checks the scenario, opens its store, warms it up (kvc_run_real_warmup_ns) and measures it for run.duration
 * of wall clock, or for up to six times as long until half of this duration was quiet. Threads are pinned to
 * the first cores. The metrics cover the quiet windows only (sim/probes/quiet.h): quiet_frac and windows tell
 * how many these are, the metrics *_half_frac are half the width of the 95 % interval of a metric relative to
 * it, by batch means, and raw_throughput_mops, raw_latency_mean_us and raw_latency_p99_us cover all windows.
 * If no window is quiet, all metrics cover all windows and have no intervals. core_speed_steps_per_ns is the
 * mean fast speed of the cores (sim/probes/core_watch.h). others_frac, stalled_frac and slowest_core_frac
 * tell how much the machine disturbed the run. The histogram in `result` must be empty. */
enum kvc_status kvc_measurable_run(const struct kvc_measurable *measurable,
                                   const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                                   struct kvc_result *result, struct kvc_diag *diag);

/* Opens the store of a checked scenario, on the pages that its node has. */
enum kvc_status kvc_measurable_open(const struct kvc_measurable *measurable,
                                    const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                                    void **store, struct kvc_diag *diag);

/* The same as kvc_measurable_run() for an open store. */
enum kvc_status kvc_measurable_run_open(const struct kvc_measurable *measurable, void *store,
                                        const struct kvc_scenario *scenario,
                                        const struct kvc_progress *progress, struct kvc_result *result,
                                        struct kvc_diag *diag);

/* Lets an open store join a run as its side measured->side, and fills in *reports. */
void kvc_measurable_join(const struct kvc_measurable *measurable, void *store, struct kvc_measured *measured,
                         struct kvc_measured_store *reports);

#endif
