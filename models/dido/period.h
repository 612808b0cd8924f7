/* kvcast's closed form of a pipeline: how long its stages take for a batch, and how much they wait for the
 * memory that they share.
 *
 * The stages work on different batches at the same time, so a batch leaves the pipeline as often as the
 * slowest stage is done with one: every period. In a period, the stages together do the work of one batch,
 * and the memory's channels do not give more than their time.
 *
 * Work stealing: if the GPU is the slowest, the cores take of its queries what they have time for; if a stage
 * on the CPU is, the GPU does, from the first task on and up to the first one that it cannot do. Both then
 * end at the same time, as two servers that share what is left (sec. IV.A, equation 3, for all stages at
 * once). */
#ifndef KVC_MODELS_DIDO_PERIOD_H
#define KVC_MODELS_DIDO_PERIOD_H

#include "models/dido/costs.h"

struct kvc_dido_period {
    double ns;                            /* Of a batch [ns]. */
    double stage_ns[KVC_DIDO_STAGES_MAX]; /* Of each stage without stealing and without waiting for memory. */
    double busy_ns[KVC_DIDO_STAGES_MAX];  /* Time of the stage's cores or of the GPU, with stealing. */
    double launch_ns[KVC_DIDO_STAGES_MAX]; /* The part of it in which the GPU waits for launches. */
    double memory_ns;                      /* Time of the channels, spread evenly. */
    double stolen_frac; /* Share of the slowest stage's queries that the other processor does. */
    uint32_t slowest;   /* Number of the slowest stage without stealing. */
};

/* Returns the period of batches of `queries` queries. */
struct kvc_dido_period kvc_dido_period_of(const struct kvc_dido_config *config,
                                          const struct kvc_dido_pipeline *pipeline,
                                          const struct kvc_dido_mix *mix, double queries);

#endif
