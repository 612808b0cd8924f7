/* The closed form of a composed store: it follows from the stages. */
#ifndef KVC_MODELS_COMPOSED_PREDICT_H
#define KVC_MODELS_COMPOSED_PREDICT_H

#include "models/model.h"

/* See struct kvc_model (models/model.h). */
enum kvc_status kvc_composed_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                     struct kvc_diag *diag);

/* Returns the length of a window of the recorder, which does not depend on the speed of devices [ns]. */
double kvc_composed_window_ns(const struct kvc_scenario *scenario);

#endif
