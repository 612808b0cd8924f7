/* DIDO's closed form as a result. */
#ifndef KVC_MODELS_DIDO_PREDICT_H
#define KVC_MODELS_DIDO_PREDICT_H

#include "models/dido/plan.h"
#include "sim/metrics/result.h"

/* Predicts a resolved scenario. Refuses loads that alternate, of which the closed form knows nothing. */
enum kvc_status kvc_dido_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                 struct kvc_diag *diag);

/* Adds how many tasks of the pipeline the GPU does, index operations apart from the others, and a note about
 * the pipeline if the closed form chose it. */
void kvc_dido_report_pipeline(const struct kvc_dido_config *config, struct kvc_result *result);

#endif
