/* Batches flow through the stages of a pipeline with work stealing, as a fluid: the closed form's recurrence.
 *
 * The times of stealing follow from earlier batches, so no formula gives the period of a pipeline that
 * steals: a thief launches its kernel before it takes sets, goes back to its own stage when a batch comes,
 * and launches again; the owner does what the thief could not. The recurrence follows some batches from one
 * such event to the next. Between events, every processor works at a constant rate, and the users of the
 * memory get fair shares of its channels. It has no requests, no structures, no sets and nothing random; the
 * rules are the same as in sim/run/stage_graph.h. */
#ifndef KVC_MODELS_DIDO_FLOW_H
#define KVC_MODELS_DIDO_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "models/dido/pipeline.h"

/* Work on a whole batch. */
struct kvc_dido_flow_work {
    double launch_ns;  /* Time of the launch before the work begins [ns]. */
    double alone_ns;   /* Time of its worker, or of one core of a thief, if nothing else runs [ns]. */
    double channel_ns; /* Time on the memory's channels, summed over them [ns]. */
    double link_ns;    /* Time on the PCIe link, at most alone_ns [ns]. */
    double wire_ns;    /* Time on the network port, which the work takes with any number of cores [ns]. */
};

struct kvc_dido_flow_stage {
    bool on_gpu;
    bool can_be_stolen;
    double cores;                     /* Cores of the worker; 1 on the GPU. */
    struct kvc_dido_flow_work whole;  /* Work of all its tasks. */
    struct kvc_dido_flow_work stolen; /* A thief's work on a batch. */
    struct kvc_dido_flow_work rest;   /* The owner's work on stolen queries. */
};

struct kvc_dido_flow {
    uint32_t stages;
    double channels; /* Channels of the memory. */
    double every_ns; /* Shortest time between the beginnings of batches [ns]; 0: as soon as one may. */
    double set_frac; /* Smallest share of a batch that is taken at once. */
    struct kvc_dido_flow_stage stage[KVC_DIDO_STAGES_MAX];
};

struct kvc_dido_flow_result {
    double period_ns;                     /* Time between batches that leave the pipeline [ns]. */
    double slowest_ns;                    /* Time that a batch spends in its slowest stage [ns]. */
    double stage_ns[KVC_DIDO_STAGES_MAX]; /* Time that a batch spends in each stage [ns]. */
    double busy_ns[KVC_DIDO_STAGES_MAX]; /* Time that each worker works in a period, without launches [ns]. */
    double link_ns;                      /* Time of the link in a period [ns]. */
    double stolen[KVC_DIDO_STAGES_MAX];  /* Share of each stage's queries that other processors do. */
};

/* Returns whether the work of a batch fits into a period, however it is divided between owners and thieves,
 * and however much they exchange. Only launches, rates and the channels' time count: no wait for anyone, so a
 * period that fits may still not be reached, but a shorter one than any that fits is not. */
bool kvc_dido_flow_fits(const struct kvc_dido_flow *flow, double period_ns);

/* Follows batches, one for each stage at a time, until their periods repeat or their number reaches a limit.
 * The mean of a few periods that do not repeat may be too short, so no period is shorter than the work
 * allows. */
struct kvc_dido_flow_result kvc_dido_flow_of(const struct kvc_dido_flow *flow);

#endif
