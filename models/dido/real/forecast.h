/* Forecasts the throughput of pipelines on threads of this machine, and on its GPU, from the costs of their
 * tasks, which are measured alone on one core and on the GPU.
 *
 * A stage on the CPU takes the sum of its tasks' costs for each query, divided by its cores. A task costs
 * less directly after its predecessor on the same core than after other batches have run in between, so both
 * are measured. With several cores on a pipeline, a task costs more, because it writes to lines that other
 * cores hold, and shares locks with them; the extra cost is measured with all tasks in one stage. A stage on
 * the GPU takes the time that its tasks took alone for a batch of this size, the launch included; it is
 * measured for several sizes and interpolated. The costs of the CPU's tasks next to a GPU stage are measured
 * with the same tasks on the GPU, because they find what it has written, and WR and SD have values and
 * responses by row. The slowest stage sets the pace, with batches that keep it busy for the interval.
 *
 * Not in the forecast: the watch of the cores in a measured run, and caches or memory that cores and GPU
 * share. */
#ifndef KVC_MODELS_DIDO_REAL_FORECAST_H
#define KVC_MODELS_DIDO_REAL_FORECAST_H

#include "models/dido/pipeline.h"
#include "models/shards/store.h"
#include "sim/base/diag.h"
#include "sim/base/progress.h"
#include "sim/scenario.h"

enum { KVC_DIDO_REAL_GPU_SIZES = 4 /* Sizes of batches that the GPU is measured with. */ };

/* Costs under the scenario's load, with some tasks on the GPU or with none there. */
struct kvc_dido_real_costs {
    uint32_t gpu_tasks; /* Tasks on the GPU, a bit for each; 0: none. */
    /* Times of a query on one core [ns]. */
    /* Cost in a stage that does all tasks, or all tasks before or after the GPU, set by set [ns]. */
    double together_ns[KVC_DIDO_TASKS];
    /* Cost if each task does a whole batch before the next one; insert and delete are one stage, and RV and
     * PP are one. */
    double apart_ns[KVC_DIDO_TASKS];
    double handling_ns;                  /* Time of a stage for a set besides its tasks, per query [ns]. */
    double shared_ratio[KVC_DIDO_TASKS]; /* Factor by which a task takes longer if several cores work. */
    /* Times of a batch on the GPU. */
    double gpu_queries[KVC_DIDO_REAL_GPU_SIZES]; /* Sizes of batches, ascending. */
    double gpu_ns[KVC_DIDO_REAL_GPU_SIZES];      /* Time from the launch until the end is known [ns]. */
};

/* Sets the pipeline that the costs with these tasks on the GPU are measured on. All its stages have one core.
 * Apart, every task has a stage; together, there is one stage, or one before the GPU and one after it. */
void kvc_dido_real_costs_pipeline(uint32_t gpu_tasks, bool apart, struct kvc_dido_pipeline *pipeline);

/* Measures costs[i], in several rounds whose medians count, with the tasks gpu_tasks[i] on the GPU, for
 * `count` of them, with the scenario, whose pipeline is ignored, on the first core of the process. The
 * scenario must saturate the store. `batch_queries` is the size of the batches on the CPU; 0: as the
 * pipelines size them. What sharing costs is measured on `team` cores, at least 2, which also runs the
 * scenario's duration twice. Returns what kvc_dido_real_gpu_check(), kvc_dido_real_node_create() and
 * kvc_measurable_run() return, and KVC_ERR_RUNTIME if the GPU fails. */
enum kvc_status kvc_dido_real_costs_measure(const struct kvc_scenario *scenario, const uint32_t *gpu_tasks,
                                            uint32_t count, uint32_t batch_queries, uint32_t team,
                                            const struct kvc_progress *progress,
                                            struct kvc_dido_real_costs *costs, struct kvc_diag *diag);

/* Returns the tasks that a pipeline has on the GPU. */
uint32_t kvc_dido_real_gpu_tasks(const struct kvc_dido_pipeline *pipeline);

/* Returns the time of a stage on the CPU for a query [ns]; `shares` says whether the pipeline has several
 * cores. KC and RD of one stage are one read (work.h). */
double kvc_dido_real_stage_ns(const struct kvc_dido_real_costs *costs, const struct kvc_dido_stage *stage,
                              bool shares);

/* Returns the time of any stage for a batch of `queries` [ns]. Beyond the measured sizes, the GPU's time is
 * extrapolated from the two nearest ones. */
double kvc_dido_real_stage_batch_ns(const struct kvc_dido_real_costs *costs,
                                    const struct kvc_dido_stage *stage, bool shares, double queries);

/* Returns the throughput of a pipeline with stated cores, whose tasks on the GPU are the ones that the costs
 * were measured with [million/s]. Batches keep the slowest stage busy for interval_ns, but have at most
 * KVC_DIDO_BATCH_MAX queries. */
double kvc_dido_real_forecast_mops(const struct kvc_dido_real_costs *costs,
                                   const struct kvc_dido_pipeline *pipeline, double interval_ns);

#endif
