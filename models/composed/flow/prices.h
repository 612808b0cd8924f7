/* What stages cost for jobs. Most frames are like one of a few before them, so that each stage remembers its
 * latest costs. */
#ifndef KVC_MODELS_COMPOSED_FLOW_PRICES_H
#define KVC_MODELS_COMPOSED_FLOW_PRICES_H

#include "models/composed/state.h"

/* Returns the cost of a stage for a job with these counts at the server's pace. Counts with the same `alike`
 * are the same; 0: nothing is known. It stays valid until the next call for this stage. */
const struct kvc_composed_price *kvc_composed_find_price(struct kvc_composed_server *server, uint32_t stage,
                                                         const struct kvc_composed_counts *counts,
                                                         uint64_t alike);

/* Returns where a stage remembers what jobs with this number cost. */
static inline struct kvc_composed_price *kvc_composed_price_at(struct kvc_composed_server *server,
                                                               uint32_t stage, uint64_t alike)
{
    uint64_t at = (alike ^ alike >> 3 ^ alike >> 32) & (KVC_COMPOSED_PRICES - 1);
    return &server->price[KVC_COMPOSED_PRICES * stage + at];
}

/* Returns the cost of a stage for a job with its own counts, which is mostly remembered. */
static inline const struct kvc_composed_price *
kvc_composed_price_of(struct kvc_composed_server *server, uint32_t stage, const struct kvc_composed_job *job)
{
    const struct kvc_composed_price *price = kvc_composed_price_at(server, stage, job->alike);
    return job->alike != 0 && price->alike == job->alike
               ? price
               : kvc_composed_find_price(server, stage, &job->counts, job->alike);
}

/* Forgets all costs, because the pace or what they follow from is another one now. */
void kvc_composed_forget_prices(struct kvc_composed_server *server);

#endif
