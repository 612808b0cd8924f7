/* Costs of a launch on the device of the index. */
#ifndef KVC_MODELS_MEGAKV_LAUNCH_COSTS_H
#define KVC_MODELS_MEGAKV_LAUNCH_COSTS_H

#include "kernels/index.h"
#include "models/megakv/costs.h"
#include "models/megakv/launch.h"

/* A launch of all streams. */
struct kvc_megakv_launch_work {
    enum kvc_megakv_kernel kernel;
    double jobs;          /* Index jobs of all streams. */
    double erases;        /* Deletes among them. The other jobs of the kernel are inserts or searches. */
    double replaced_frac; /* Share of the inserts whose key the index has. */
    double erased_frac;   /* Share of the deletes whose item the index has. */
    double hit_frac;      /* Share of searches that hit. */
    double drained; /* SETs and DELETEs whose index jobs the scheduler drains once the search has begun. */
    const struct kvc_index_stats *stats; /* Counters of the index so far; NULL: unknown. */
};

/* Returns the kernel of the stream that has `jobs` of the launch's jobs. Its copies come on top. */
struct kvc_gpu_kernel kvc_megakv_kernel_of(const struct kvc_megakv_costs *costs,
                                           const struct kvc_megakv_launch_work *launch, double jobs);

/* Returns the duration of a launch of all streams together [ns]; 0 jobs take no time. Measured inserts and
 * deletes run one after the other, so their times add up. */
double kvc_megakv_launch_ns(const struct kvc_megakv_costs *costs,
                            const struct kvc_megakv_launch_work *launch);

/* Likewise at another clock pair of the GPU than that of the costs. */
double kvc_megakv_launch_at_ns(const struct kvc_megakv_costs *costs, uint32_t clock,
                               const struct kvc_megakv_launch_work *launch);

/* Return what the closed form expects of a launch: of searches, or of the index jobs of `writes` SETs and
 * DELETEs. Deletes of evicted items count where costs are measured; elsewhere they are part of the SETs. */
struct kvc_megakv_launch_work kvc_megakv_search_work(const struct kvc_megakv_costs *costs, double searches,
                                                     double drained);
struct kvc_megakv_launch_work kvc_megakv_insert_work(const struct kvc_megakv_costs *costs, double writes);

#endif
