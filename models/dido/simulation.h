/* The simulation of DIDO: batches pass through the stages of their pipeline (sim/run/stage_graph.h). */
#ifndef KVC_MODELS_DIDO_SIMULATION_H
#define KVC_MODELS_DIDO_SIMULATION_H

#include "models/dido/costs.h"
#include "models/dido/machine.h"
#include "models/dido/planner.h"
#include "sim/run/replica.h"
#include "sim/run/stage_graph.h"
#include "sim/workload/phases.h"

enum { KVC_DIDO_RESPONSE_BYTES = 1 << 21 /* Where values are copied to. */ };

/* Outcomes of a query. */
enum kvc_dido_outcome { KVC_DIDO_HIT, KVC_DIDO_MISS, KVC_DIDO_DONE };

/* Costs of a stage for all queries of a batch. */
struct kvc_dido_stage_costs {
    struct kvc_dido_cost whole;  /* All its tasks, on the processor that has the stage. */
    struct kvc_dido_cost stolen; /* Those that the other one can do, on that one; with stealing only. */
    struct kvc_dido_cost rest;   /* The others, on the one that has the stage; likewise. */
};

struct kvc_stage_batch {
    struct kvc_batch *rows;
    struct kvc_dido_pipeline pipeline;
    uint64_t plan;                        /* Number of the plan that the pipeline is from. */
    const struct kvc_dido_config *config; /* Under the load that the batch is of. */
    bool under_way;
    double slowest_ns;     /* Of its stages so far. */
    double stage_began_ns; /* When its latest stage began with it. */
    uint32_t gets, sets;   /* Of all rows. */
    uint32_t *kept;        /* The rows that run through the real index and slabs, in order (sample.c). */
    uint32_t kept_count, kept_gets, kept_sets;
    uint32_t hits;           /* Of the GETs among these. */
    struct kvc_dido_mix mix; /* As far as its tasks are done, otherwise as the workload's. */
    struct kvc_dido_stage_costs costs[KVC_DIDO_STAGES_MAX];
    uint32_t *location; /* By row: of the item of a GET, or of the place of a SET. */
    uint8_t *outcome;   /* By row: enum kvc_dido_outcome. */
    uint32_t evictions; /* Items that its SETs evicted. */
    struct kvc_megakv_slab_evicted *evicted;
};

/* Sums within the measured time. */
struct kvc_dido_sums {
    uint64_t completed, hits, misses, sets, deletes;
    uint64_t batches, queries;                  /* Of batches that ended. */
    uint64_t stage_queries;                     /* Queries that passed through a stage, */
    uint64_t stolen_queries;                    /* and those of them that another processor did. */
    double stage_ns[KVC_DIDO_STAGES_MAX];       /* Times of the stages for their batches. */
    double period_ns;                           /* Times of the slowest stages of the batches. */
    double gpu_ns, gpu_insert_ns, gpu_erase_ns; /* Times of the GPU, as owner of its stage. */
};

/* The load as it is in one phase. */
struct kvc_dido_load {
    struct kvc_dido_config config;
    struct kvc_dido_mix mix;
};

struct kvc_dido_simulation {
    const struct kvc_scenario *scenario;
    const struct kvc_dido_config *config;
    struct kvc_cuckoo_store *store;
    struct kvc_platform *platform;
    struct kvc_dido_machine machine;
    struct kvc_replica replica;
    struct kvc_stage_graph graph;
    struct kvc_stage_batch batch[KVC_DIDO_STAGES_MAX];
    struct kvc_rng thinning, drawn; /* Which requests for hot keys are kept, and outcomes of the others. */
    uint32_t workers;               /* Stages of the longest pipeline. */
    struct kvc_dido_stage worker[KVC_DIDO_STAGES_MAX]; /* Stage of each worker's latest batch: its processor
                                                          and cores, with which it also steals. */
    struct kvc_dido_load load[KVC_PHASES_MAX];         /* By phase. */
    uint32_t phase_frame_requests[KVC_PHASES_MAX];
    struct kvc_dido_planner planner;   /* Zeroed if the pipeline stays. */
    struct kvc_dido_pipeline pipeline; /* Of the next batch. */
    uint64_t plans;                    /* Number of plans so far. */
    double batch_queries;              /* That the next batch may have. */
    double larger_queries,
        larger_ns;    /* Of an earlier batch of this plan that took longer than the interval. */
    double began_ns;  /* When the latest batch began. */
    double *done_ns;  /* Scratch, by row. */
    uint64_t *hashes; /* Scratch of execute.c, by row, up to response. */
    uint32_t *rows, *locations;
    uint8_t *result, *response;
    uint32_t response_position;
    struct kvc_index_stats first_index, last_index;
    struct kvc_dido_sums sums;
};

/* Counts the operations of a batch and lists the rows that run through the real index and slabs: with
 * functional = "sampled" those for keys of the sample, with "off" none, otherwise all. */
void kvc_dido_sample(struct kvc_dido_simulation *simulation, struct kvc_stage_batch *batch);

/* Returns "cpu" or "gpu", whichever does a stage. The first and the last stage of every plan are on the CPU.
 */
const char *kvc_dido_device_of(const struct kvc_dido_simulation *simulation, uint32_t stage);

/* Does the tasks of a stage on the real structures, and counts what they did in the batch's mix. */
void kvc_dido_execute(struct kvc_dido_simulation *simulation, struct kvc_stage_batch *batch, uint32_t stage);

/* Fills the result. */
void kvc_dido_report(struct kvc_dido_simulation *simulation, struct kvc_result *result);

/* Takes the counters of the simulation `data` (sim/run/monitor.h). */
void kvc_dido_count(void *data, bool begins);

#endif
