/* The closed form of a composed store: it follows from the stages. */
#ifndef KVC_MODELS_COMPOSED_PREDICT_H
#define KVC_MODELS_COMPOSED_PREDICT_H

#include "models/model.h"

/* See struct kvc_model (models/model.h). */
enum kvc_status kvc_composed_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                     struct kvc_diag *diag);

/* Returns the share of the GETs that hit in the long run. */
double kvc_composed_hit_frac(const struct kvc_scenario *scenario);

/* Returns to which share the index is full when the run begins; 0: there is none. */
double kvc_composed_load_frac(const struct kvc_scenario *scenario);

/* Sets the share of the requests that each stage is for. */
void kvc_composed_shares(const struct kvc_scenario *scenario, double *share_frac);

/* Returns the length of a window of the recorder, which does not depend on the speed of devices [ns]. */
double kvc_composed_window_ns(const struct kvc_scenario *scenario);

#endif
