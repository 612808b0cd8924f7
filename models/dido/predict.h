/* DIDO's closed form as a result. */
#ifndef KVC_MODELS_DIDO_PREDICT_H
#define KVC_MODELS_DIDO_PREDICT_H

#include "models/dido/plan.h"
#include "sim/metrics/result.h"

/* Predicts a resolved scenario. Refuses alternating loads, which the closed form does not model. */
enum kvc_status kvc_dido_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                 struct kvc_diag *diag);

/* Adds the number of tasks on the GPU, with index operations counted separately, and a note about the
 * pipeline if the closed form chose it. */
void kvc_dido_report_pipeline(const struct kvc_dido_config *config, struct kvc_result *result);

#endif
