/* When batches of a composed store close, in closed form. */
#ifndef KVC_MODELS_COMPOSED_CLOSED_FORM_BATCHES_H
#define KVC_MODELS_COMPOSED_CLOSED_FORM_BATCHES_H

#include "models/composed/closed_form/mix.h"
#include "models/composed/config.h"

/* Returns the most requests of a batch: those that close it, or those that clients keep in a pipeline. A
 * batch of as many bytes takes all of the frame that fills it. */
double kvc_composed_batch_most(const struct kvc_composed_config *config);

/* Returns the most requests of a burst of a stage. */
double kvc_composed_burst_most(const struct kvc_composed_mix *mix, const struct kvc_composed_stage *stage);

/* Returns the most requests of a batch while none is free: one that closes by bytes takes the whole burst
 * with which it is full. A burst takes the frames that come, as long as clients that wait have any besides
 * those in the buffers and in front of them. */
double kvc_composed_batch_grown(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix);

/* Returns the time after which a batch closes at the latest; infinity: it does not close by time. */
double kvc_composed_batch_time_ns(const struct kvc_composed_config *config);

/* Returns whether batches of this many requests close because no other batch is under way. */
bool kvc_composed_closes_idle(const struct kvc_composed_config *config, double requests);

/* Returns the requests of a batch that closes by time, of a pipeline that gets per_ns requests. */
double kvc_composed_batch_requests(const struct kvc_composed_config *config, double per_ns);

/* Returns the length of a window of the recorder, which does not depend on the speed of devices [ns]. */
double kvc_composed_window_ns(const struct kvc_scenario *scenario);

#endif
