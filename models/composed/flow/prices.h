/* What stages cost for jobs. Most frames are like one of a few before them, so that each stage remembers its
 * latest costs. */
#ifndef KVC_MODELS_COMPOSED_FLOW_PRICES_H
#define KVC_MODELS_COMPOSED_FLOW_PRICES_H

#include "models/composed/state.h"

/* Returns the cost of a stage for a job with these counts at the server's pace. Counts with the same `alike`
 * are the same; 0: nothing is known. It stays valid until the next call for this stage. */
const struct kvc_composed_price *kvc_composed_price_of(struct kvc_composed_server *server, uint32_t stage,
                                                       const struct kvc_composed_counts *counts,
                                                       uint64_t alike);

#endif
