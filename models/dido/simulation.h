/* The simulation of DIDO: batches pass through the stages of their pipeline (sim/run/stage_graph.h). */
#ifndef KVC_MODELS_DIDO_SIMULATION_H
#define KVC_MODELS_DIDO_SIMULATION_H

#include "models/dido/adapt.h"
#include "models/dido/costs.h"
#include "sim/run/replica.h"
#include "sim/run/stage_graph.h"
#include "sim/workload/phases.h"

/* DIDO's planner in the simulation: a thread that plans a pipeline while batches continue with the current
 * one.
 *
 * A batch whose packets are processed shows whether the load has changed (adapt.h): operations, sizes and
 * keys are then known. What its queries will find in the store is not known
 * yet, so the planner takes what the queries of the latest finished batch found. The search for a pipeline
 * takes one core of the CPU for `system.planning`, which competes with the stages; next batches have the new
 * pipeline when it is found. Profiles of batches meanwhile are not looked at, so that one plan is made at a
 * time: if the load has changed again, the next batch after the plan shows that.
 *
 * The operating system is taken to give the planner a core at once. */

struct kvc_gate;

struct kvc_dido_planner {
    struct kvc_dido_adapter adapter;
    struct kvc_gate *gate;     /* A token when there is something to plan. */
    struct kvc_dido_mix found; /* Outcomes of the latest finished batch's queries. */
    bool plans;                /* A plan is being made. */
    struct kvc_dido_plan plan; /* The plan that is being made. */
};

struct kvc_dido_simulation;
struct kvc_dido_batch;

/* Creates the planner and its actor. The current pipeline is planned for the initial load, as if it had
 * lasted long. */
void kvc_dido_planner_open(struct kvc_dido_simulation *simulation);

/* Frees the planner's contents after the engine has ended. A planner that was not opened is allowed. */
void kvc_dido_planner_close(struct kvc_dido_planner *planner);

/* Begins a plan if the load of a batch whose packets are processed is not the one that the present pipeline
 * was planned for, unless one is being made. */
void kvc_dido_planner_look(struct kvc_dido_simulation *simulation, const struct kvc_dido_batch *batch);

/* The machine: a CPU and a GPU that share a memory, on one chip or with a PCIe link between. The fields are
 * numbers of hosts in the platform. */
struct kvc_dido_machine {
    /* Host of the CPU, whose speed is the number of cores, so that a stage uses as many as it has. */
    uint32_t cpu;
    uint32_t gpu;
    uint32_t dram; /* Host of the memory, whose speed is the number of channels. */
    /* Directions of the link, to the GPU and to the CPU; without a link 0, and nothing draws on them. They
     * are hosts, because transfers over them are part of work that draws on several devices at once. */
    uint32_t down, up;
    uint32_t in, out; /* Directions of the network port, as hosts, too; without a network 0. */
};

enum { KVC_DIDO_RESPONSE_BYTES = 1 << 21 /* Size of the buffer that values are copied to. */ };

/* Outcomes of a query. */
enum kvc_dido_outcome { KVC_DIDO_HIT, KVC_DIDO_MISS, KVC_DIDO_DONE };

/* Costs of a stage for all queries of a batch. */
struct kvc_dido_stage_costs {
    struct kvc_dido_cost whole; /* All tasks, on the processor that has the stage. */
    struct kvc_dido_cost
        stolen; /* The tasks that the other processor can do, on that one; with stealing only. */
    struct kvc_dido_cost rest; /* The other tasks, on the processor that has the stage; with stealing only. */
};

struct kvc_dido_batch {
    struct kvc_batch *rows;
    struct kvc_dido_pipeline pipeline;
    uint64_t plan;                        /* Number of the pipeline's plan. */
    const struct kvc_dido_config *config; /* Configuration under the load of the batch. */
    bool under_way;
    double slowest_ns;     /* Longest time of its stages so far [ns]. */
    double stage_began_ns; /* When its latest stage began with it [ns]. */
    /* When its first stage began with it, and when each of its stages so far ended [ns]. */
    double passed_ns[1 + KVC_DIDO_STAGES_MAX];
    uint32_t gets, sets; /* GETs and SETs of all rows. */
    uint32_t *kept;      /* The rows that run through the real index and slabs, in order. */
    uint32_t kept_count, kept_gets, kept_sets;
    uint32_t hits;           /* Hits of the kept GETs. */
    struct kvc_dido_mix mix; /* Counted for finished tasks; the workload's mix for the others. */
    struct kvc_dido_stage_costs costs[KVC_DIDO_STAGES_MAX];
    uint32_t *location; /* By row: location of the item of a GET, or of the place of a SET. */
    uint8_t *outcome;   /* By row: enum kvc_dido_outcome. */
    uint32_t evictions; /* Items that its SETs evicted. */
    struct kvc_megakv_slab_evicted *evicted;
};

/* What the structures have counted since the preload. */
struct kvc_dido_counters {
    struct kvc_index_stats index;
    uint64_t evicted, rejected;
};

/* Sums within the measured time. */
struct kvc_dido_sums {
    uint64_t completed, hits, misses, sets, deletes;
    uint64_t batches, queries;                   /* Batches that ended, and their queries. */
    uint64_t stage_queries;                      /* Queries that passed through a stage. */
    uint64_t stolen_queries;                     /* Queries among these that another processor did. */
    uint64_t stage_batches[KVC_DIDO_STAGES_MAX]; /* Batches that the stages ended. */
    double stage_ns[KVC_DIDO_STAGES_MAX];        /* Times of the stages for these. */
    double period_ns;                            /* Times of the slowest stages of the batches. */
    double gpu_ns, gpu_insert_ns, gpu_erase_ns;  /* Times of the GPU, as owner of its stage. */
};

/* The load in one phase. */
struct kvc_dido_load {
    struct kvc_dido_config config;
    struct kvc_dido_mix mix;
};

struct kvc_dido_simulation {
    struct kvc_replica replica;
    const struct kvc_scenario *scenario;
    const struct kvc_dido_config *config;
    struct kvc_shards *store;
    struct kvc_dido_machine machine;
    struct kvc_stage_graph graph;
    struct kvc_dido_batch batch[KVC_DIDO_STAGES_MAX];
    struct kvc_rng thinning, drawn; /* Which requests for hot keys are kept, and outcomes of the others. */
    uint32_t workers;               /* Stages of the longest pipeline. */
    struct kvc_dido_stage worker[KVC_DIDO_STAGES_MAX]; /* Stage of each worker's latest batch: its processor
                                                          and cores, with which it also steals. */
    struct kvc_dido_load load[KVC_PHASES_MAX];         /* Indexed by phase. */
    uint32_t phase_frame_requests[KVC_PHASES_MAX];
    struct kvc_dido_planner planner;   /* Zeroed if the pipeline does not change. */
    struct kvc_dido_pipeline pipeline; /* Pipeline of the next batch. */
    uint64_t plans;                    /* Number of plans so far. */
    double batch_queries;              /* Most queries of the next batch. */
    double larger_queries,
        larger_ns;    /* Queries and time of a batch of this plan that exceeded the interval. */
    double began_ns;  /* When the latest batch began. */
    double *done_ns;  /* Scratch, by row. */
    uint64_t *hashes; /* Scratch of execute.c, by row, up to response. */
    uint32_t *rows, *locations;
    uint8_t *result, *response;
    uint32_t response_position;
    struct kvc_dido_counters first, last; /* At the ends of the measured time. */
    struct kvc_dido_sums sums;
};

/* Counts the operations of a batch and lists the rows that run through the real index and slabs: with
 * functional = "sampled" those for keys of the sample, with "off" none, otherwise all. */
void kvc_dido_sample(struct kvc_dido_simulation *simulation, struct kvc_dido_batch *batch);

/* Does the tasks of a stage on the real structures, and counts what they did in the batch's mix. */
void kvc_dido_execute(struct kvc_dido_simulation *simulation, struct kvc_dido_batch *batch, uint32_t stage);

#endif
