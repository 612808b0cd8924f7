/* kvcast's closed form of a pipeline: how long its stages take for a batch, and how much they wait for the
 * memory that they share.
 *
 * The stages work on different batches at the same time, so a batch leaves the pipeline as often as the
 * slowest stage is done with one: every period. In a period, the stages together do the work of one batch,
 * and the memory's channels do not give more than their time.
 *
 * The link to a GPU with memory of its own has one user, so the time of its kernels includes it (link.h).
 *
 * Without stealing, that is a sum for each stage, as long as the memory has enough for all of them at once.
 * If it has not, or with stealing, batches flow through the pipeline until their periods repeat (flow.h): a
 * stage that is idle leaves the memory to the others, but not when they need it. A pipeline without a stage
 * on the GPU has no one who steals. */
#ifndef KVC_MODELS_DIDO_PERIOD_H
#define KVC_MODELS_DIDO_PERIOD_H

#include "models/dido/costs.h"
#include "models/dido/flow.h"

struct kvc_dido_period {
    double ns;                            /* Between two batches [ns]. */
    double longest_ns;                    /* Of a batch in its slowest stage [ns]. */
    double stage_ns[KVC_DIDO_STAGES_MAX]; /* Of each stage without stealing and without waiting for memory. */
    double served_ns[KVC_DIDO_STAGES_MAX]; /* Of a batch in each stage, with stealing [ns]. */
    double busy_ns[KVC_DIDO_STAGES_MAX];   /* Work of the stage's cores or of the GPU in a period [ns]. */
    double memory_ns;                      /* Time of the channels, spread evenly. */
    double link_ns;                        /* Time of the busier direction of the link [ns]. */
    double stolen_frac;                    /* Share of all stages' queries that the other processor does. */
    uint32_t slowest;                      /* Number of the slowest stage without stealing. */
};

/* Returns the period of batches of `queries` queries. */
struct kvc_dido_period kvc_dido_period_of(const struct kvc_dido_config *config,
                                          const struct kvc_dido_pipeline *pipeline,
                                          const struct kvc_dido_mix *mix, double queries);

/* Returns whether the pipeline has thieves. */
bool kvc_dido_steals(const struct kvc_dido_config *config, const struct kvc_dido_pipeline *pipeline);

/* Returns the work of tasks on a batch, of one core or of the GPU, with the time of taking sets if there are
 * thieves. */
struct kvc_dido_flow_work kvc_dido_flow_work_of(const struct kvc_dido_config *config,
                                                const struct kvc_dido_pipeline *pipeline, uint32_t tasks,
                                                bool on_gpu, const struct kvc_dido_mix *mix, double queries);

/* Returns a stage of a flow, given such work: of all its tasks, of what a thief does of them, and of what it
 * leaves. */
struct kvc_dido_flow_stage kvc_dido_flow_stage_of(const struct kvc_dido_stage *stage, bool can_be_stolen,
                                                  const struct kvc_dido_flow_work *whole,
                                                  const struct kvc_dido_flow_work *stolen,
                                                  const struct kvc_dido_flow_work *rest);

#endif
