/* Forecasts the throughput of pipelines on threads of this machine from the costs of their tasks, which are
 * measured alone on one core.
 *
 * A stage takes the sum of its tasks' costs, divided by its cores, and the slowest stage sets the pace. A
 * task costs less behind its predecessor on the same core than behind one whose batch has been put aside
 * since, so both are measured. Not in the forecast: what a stage waits for lines that the core of another
 * stage has written, the watch of the cores in a measured run, threads that hold the lock of the index, and
 * cores that share caches or memory. */
#ifndef KVC_MODELS_DIDO_REAL_FORECAST_H
#define KVC_MODELS_DIDO_REAL_FORECAST_H

#include "models/dido/pipeline.h"
#include "models/megakv/store.h"
#include "sim/base/diag.h"
#include "sim/base/progress.h"
#include "sim/scenario.h"

/* Costs of a query of the scenario's load on one core [ns]. */
struct kvc_dido_real_costs {
    double together_ns[KVC_DIDO_TASKS]; /* In a stage that does all tasks set by set. */
    double apart_ns[KVC_DIDO_TASKS]; /* If each task does a whole batch before the next one, insert and delete
                                        as one stage, and RV and PP as one. */
    double handling_ns;              /* What a stage takes for a set beside its tasks, by query. */
};

/* The pipelines that the costs are measured on. */
extern const char kvc_dido_real_together[], kvc_dido_real_apart[];

/* Measures the costs with the scenario, whose pipeline is ignored, on the first core of the process. The
 * scenario must saturate the store. Returns what kvc_dido_real_node_create() does. */
enum kvc_status kvc_dido_real_costs_measure(const struct kvc_scenario *scenario,
                                            const struct kvc_progress *progress,
                                            struct kvc_dido_real_costs *costs, struct kvc_diag *diag);

/* Returns the time of a stage for a query [ns]. KC and RD of one stage are one read (work.h). */
double kvc_dido_real_stage_ns(const struct kvc_dido_real_costs *costs, const struct kvc_dido_stage *stage);

/* Returns the throughput of a pipeline that says its cores [million/s]. */
double kvc_dido_real_forecast_mops(const struct kvc_dido_real_costs *costs,
                                   const struct kvc_dido_pipeline *pipeline);

#endif
