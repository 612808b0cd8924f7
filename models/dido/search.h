/* Rules pipelines out before the closed form computes them: a search for the best one is part of DIDO's run.
 *
 * No pipeline is faster than its work allows (kvc_dido_flow_fits()). Whether a target is within that takes
 * the costs of its stages, which many pipelines have in common, and no batches that flow. Costs are computed
 * for some sizes of batches. Between two of them, a cost is at least that of the smaller size, and per query
 * that of the larger one, as nothing gets dearer per query in larger batches, but for the rounds of a GPU
 * that does not hold all waves at once, and for the last wave and the last set, which are not full. */
#ifndef KVC_MODELS_DIDO_SEARCH_H
#define KVC_MODELS_DIDO_SEARCH_H

#include "models/dido/period.h"

struct kvc_dido_search;

/* Begins a search among pipelines of a configuration under a load, which must outlive it. */
struct kvc_dido_search *kvc_dido_search_open(const struct kvc_dido_config *config,
                                             const struct kvc_dido_mix *mix);

/* Frees a search. NULL is allowed. */
void kvc_dido_search_close(struct kvc_dido_search *search);

/* Returns whether the work of a pipeline may allow more than so many queries per ns. */
bool kvc_dido_search_may_reach(struct kvc_dido_search *search, const struct kvc_dido_pipeline *pipeline,
                               double per_ns);

/* Returns whether a pipeline has other work than those that this function was called for before, as far as it
 * keeps them: tasks that no query does, such as insert where all queries are GETs, may be in any stage. */
bool kvc_dido_search_is_new(struct kvc_dido_search *search, const struct kvc_dido_pipeline *pipeline);

#endif
