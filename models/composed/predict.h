/* The closed form of a composed store: it follows from the stages. */
#ifndef KVC_MODELS_COMPOSED_PREDICT_H
#define KVC_MODELS_COMPOSED_PREDICT_H

#include "models/model.h"

/* See struct kvc_model (models/model.h). */
enum kvc_status kvc_composed_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                     struct kvc_diag *diag);

#endif
