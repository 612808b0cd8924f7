/* Results of Mega-KV's closed form for a scenario: all of them, or the few values of a forecast. */
#ifndef KVC_MODELS_MEGAKV_PREDICT_H
#define KVC_MODELS_MEGAKV_PREDICT_H

#include <stdbool.h>

#include "models/forecast.h"
#include "sim/metrics/result.h"
#include "sim/scenario.h"

/* Fills `result` with the prediction. Returns KVC_OK. */
enum kvc_status kvc_megakv_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                   struct kvc_diag *diag);

/* Fills in a forecast. Its percentiles are taken over 64 requests of each batch. Returns KVC_OK. */
enum kvc_status kvc_megakv_forecast(const struct kvc_scenario *scenario, struct kvc_forecast *out,
                                    struct kvc_diag *diag);

/* Returns the time of a launch of `jobs` searches, or of inserts and deletes, by the costs of the node [ns].
 * Its mix is the workload's; evictions delete an item for each SET if `result` counts any, or, where it does
 * not count them, if the closed form fills the slabs. */
double kvc_megakv_predict_launch_ns(const struct kvc_scenario *scenario, const struct kvc_result *result,
                                    bool inserts, double jobs);

/* Sets the share of the cores' time in which the scheduler polls the GPU, if it does. The utilization of the
 * CPU counts it, that of stages does not. */
void kvc_megakv_set_polling(const struct kvc_scenario *scenario, struct kvc_result *result);

/* Notes about scenarios that exceed the range of a calibrated machine's measurements. */

/* Adds a note for every quantity outside the range of the node's cost profile: frames, items, memory,
 * index, senders, and the searches of a launch. The notes name the nearest measured value, and the metric
 * kvc_extrapolated_name has the sum of what their costs may be off, by which answers widen their intervals.
 * jobs_per_search is NaN if it is unknown, and 0 if nothing is searched. A profile without measured costs
 * adds no notes. */
void kvc_megakv_note_range(const struct kvc_scenario *scenario, double jobs_per_search,
                           struct kvc_result *result);

#endif
