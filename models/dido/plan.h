/* Finds how many queries a batch has, and which pipeline is the best, by a closed form.
 *
 * The largest batch whose slowest stage takes no longer than the interval gives the throughput of a pipeline
 * (sec. IV.A, equation 4). The best pipeline is that with the highest throughput of all (sec. IV.B). */
#ifndef KVC_MODELS_DIDO_PLAN_H
#define KVC_MODELS_DIDO_PLAN_H

#include "models/dido/costs.h"
#include "models/dido/flow.h"

/* kvcast's closed form of a pipeline: how long its stages take for a batch, and how much they wait for the
 * memory that they share.
 *
 * The stages work on different batches at the same time, so a batch leaves the pipeline as often as the
 * slowest stage is done with one: every period. In a period, the stages together do the work of one batch,
 * and the memory's channels do not give more than their time.
 *
 * The link to a GPU with memory of its own has one user, so the time of its kernels includes it (costs.h).
 *
 * Without stealing, the work of each stage is added up if the memory has enough time for all stages at once.
 * Otherwise, and with stealing, batches flow through the pipeline until their periods repeat (flow.h): a
 * stage that is idle leaves the memory to the others, but not when they need it. A pipeline without a stage
 * on the GPU has no one who steals. */

struct kvc_dido_period {
    double ns;                             /* Time between two batches [ns]. */
    double longest_ns;                     /* Time of a batch in its slowest stage [ns]. */
    double stage_ns[KVC_DIDO_STAGES_MAX];  /* Time of each stage without stealing and without waits for memory
                                              [ns]. */
    double served_ns[KVC_DIDO_STAGES_MAX]; /* Time of a batch in each stage, with stealing [ns]. */
    double busy_ns[KVC_DIDO_STAGES_MAX];   /* Work of the stage's cores or of the GPU in a period [ns]. */
    double memory_ns;                      /* Time of the channels, spread evenly over them [ns]. */
    double link_ns;                        /* Time of the busier direction of the link [ns]. */
    double stolen_frac;                    /* Share of all stages' queries that the other processor does. */
    uint32_t slowest;                      /* Number of the slowest stage without stealing. */
};

/* Returns the period of batches of `queries` queries, which begin at least every_ns apart [ns]; 0: as soon as
 * the pipeline takes them. */
struct kvc_dido_period kvc_dido_period_of(const struct kvc_dido_config *config,
                                          const struct kvc_dido_pipeline *pipeline,
                                          const struct kvc_dido_mix *mix, double queries, double every_ns);

struct kvc_dido_plan {
    struct kvc_dido_pipeline pipeline;
    double queries; /* Queries of a batch. */
    struct kvc_dido_period period;
    double per_ns; /* Throughput [queries/ns]. */
};

/* Sizes the batches of a pipeline with stated cores, with the closed form that the options name. A batch has
 * at least one query, even if this takes longer than the interval. */
struct kvc_dido_plan kvc_dido_plan_of(const struct kvc_dido_config *config,
                                      const struct kvc_dido_pipeline *pipeline,
                                      const struct kvc_dido_mix *mix);

/* Returns the plan of the configured pipeline. It belongs to the calling thread, which computes it once for
 * all configurations that differ in nothing that it depends on, and holds until the thread has asked for 512
 * others. */
const struct kvc_dido_plan *kvc_dido_configured_plan(const struct kvc_dido_config *config,
                                                     const struct kvc_dido_mix *mix);

/* Returns the best plan: of all pipelines, if `said` is NULL, or of all ways to give cores to its stages. If
 * throughputs differ by less than a factor of 1e-5, the first plan wins. Pipelines whose work cannot beat the
 * best one are skipped. */
struct kvc_dido_plan kvc_dido_best_plan(const struct kvc_dido_config *config,
                                        const struct kvc_dido_pipeline *said, const struct kvc_dido_mix *mix);

/* Resolves the scenario's options; `config` is a struct kvc_dido_config. Refuses impossible pipelines. */
enum kvc_status kvc_dido_resolve(const struct kvc_scenario *scenario, void *config, struct kvc_diag *diag);

/* Checks what the ranges of single options cannot express. */
enum kvc_status kvc_dido_check(const struct kvc_scenario *scenario, struct kvc_diag *diag);

#endif
