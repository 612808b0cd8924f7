/* Finds how many queries a batch has, and which pipeline is the best, by a closed form.
 *
 * The largest batch whose slowest stage takes no longer than the interval gives the throughput of a pipeline
 * (sec. IV.A, equation 4). The best pipeline is that with the highest throughput of all (sec. IV.B). */
#ifndef KVC_MODELS_DIDO_PLAN_H
#define KVC_MODELS_DIDO_PLAN_H

#include "models/dido/period.h"

struct kvc_dido_plan {
    struct kvc_dido_pipeline pipeline;
    double queries; /* Of a batch. */
    struct kvc_dido_period period;
    double per_ns; /* Queries per ns. */
};

/* Returns the longest time of a stage of a pipeline for a batch, unless the batch has one query [ns]. */
double kvc_dido_plan_longest_ns(const struct kvc_dido_config *config,
                                const struct kvc_dido_pipeline *pipeline);

/* Sizes the batches of a pipeline that says its cores, with the closed form that the options name. A batch
 * has one query at least, even if that takes longer than the interval. */
struct kvc_dido_plan kvc_dido_plan_of(const struct kvc_dido_config *config,
                                      const struct kvc_dido_pipeline *pipeline,
                                      const struct kvc_dido_mix *mix);

/* Returns the best plan: of all pipelines, if `said` is NULL, or of all ways to give cores to its stages. Of
 * plans whose throughput differs by less than 1e-5 of it, it is the first. Pipelines whose work does not
 * allow more than the best one are not computed (search.h). */
struct kvc_dido_plan kvc_dido_best_plan(const struct kvc_dido_config *config,
                                        const struct kvc_dido_pipeline *said, const struct kvc_dido_mix *mix);

#endif
