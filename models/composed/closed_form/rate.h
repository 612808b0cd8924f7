/* The mean request of a composed store's load at a rate. */
#ifndef KVC_MODELS_COMPOSED_CLOSED_FORM_RATE_H
#define KVC_MODELS_COMPOSED_CLOSED_FORM_RATE_H

#include "models/composed/closed_form/mix.h"

/* Returns the mean request of clients that send per_ns requests to a socket: their frames fill with the rate,
 * and so do the slabs, and the write buffer of flash. */
struct kvc_composed_mix kvc_composed_mix_at(const struct kvc_composed_config *config,
                                            const struct kvc_composed_mix *mix, double per_ns);

#endif
