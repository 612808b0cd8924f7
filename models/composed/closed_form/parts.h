/* What a job costs a stage of a composed store, in closed form.
 *
 * Branches split jobs, and each part costs what a job costs. A part without a request for a stage passes it
 * by, and one that has nothing to search or nothing to write launches no kernel for it.
 *
 * Left out: jobs of other sizes than the mean one. */
#ifndef KVC_MODELS_COMPOSED_CLOSED_FORM_PARTS_H
#define KVC_MODELS_COMPOSED_CLOSED_FORM_PARTS_H

#include "models/composed/closed_form/mix.h"

/* What a stage costs a job that earlier branches have split: all parts together, and the one of a request. */
struct kvc_composed_job_parts {
    struct kvc_composed_cost sum;
    double mean_ns;    /* Time of the mean request; those that the stage is not for pass it by [ns]. */
    double latency_ns; /* The latency of the mean part [ns]. */
    double jobs;       /* Parts that work of the stage is done for. */
    double most;       /* Parts that may come, at least 1. */
    double served_ns[KVC_COMPOSED_PATHS_MAX]; /* Time of a request that is for the stage, by part [ns]. */
};

/* Returns the probability that one of `requests` requests is for a stage, which is for a share of them. */
double kvc_composed_reached(double requests, double share);

/* Returns what a stage costs a job of `requests` requests of the load. Requests that a branch takes leave the
 * others, as a job of their own. */
struct kvc_composed_job_parts kvc_composed_job_parts_of(const struct kvc_composed_config *config,
                                                        const struct kvc_composed_mix *mix, uint32_t stage,
                                                        double requests);

/* Returns the time in which a job and all that branches have split off pass the stages, each of which takes
 * stage_ns[i] for what comes to it: that of the longest way. Stages beside each other take as long as the
 * slowest [ns]. */
double kvc_composed_longest_ns(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                               const double *stage_ns);

#endif
