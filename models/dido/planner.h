/* DIDO's planner in the simulation: a thread that plans a pipeline while batches go on with the present one.
 *
 * A batch whose packets are processed shows whether the load has changed (adapt.h): operations, sizes and
 * keys are then known. What its queries will find in the store is not, so the planner takes what those of the
 * latest batch that is done have found. The search for a pipeline takes one core of the CPU for
 * `system.plan`, which competes with the stages; next batches have the new pipeline when it is found.
 * Profiles of batches meanwhile are not looked at, so that one plan is made at a time: if the load has
 * changed again, the next batch after the plan shows that.
 *
 * The operating system is taken to give the planner a core at once. */
#ifndef KVC_MODELS_DIDO_PLANNER_H
#define KVC_MODELS_DIDO_PLANNER_H

#include "models/dido/adapt.h"

struct kvc_gate;

struct kvc_dido_planner {
    struct kvc_dido_adapter adapter;
    struct kvc_gate *gate;     /* A token when there is something to plan. */
    struct kvc_dido_mix found; /* Of the latest batch that is done. */
    bool plans;                /* A plan is being made: */
    struct kvc_dido_plan plan;
};

struct kvc_dido_simulation;
struct kvc_stage_batch;

/* Creates the planner and its actor. The present pipeline is planned for the load that the run begins with,
 * which has been there for long. */
void kvc_dido_planner_open(struct kvc_dido_simulation *simulation);

/* Frees what it holds, after the engine has ended. One that was not opened is allowed. */
void kvc_dido_planner_close(struct kvc_dido_planner *planner);

/* Begins a plan if the load of a batch whose packets are processed is not the one that the present pipeline
 * was planned for, unless one is being made. */
void kvc_dido_planner_look(struct kvc_dido_simulation *simulation, const struct kvc_stage_batch *batch);

#endif
