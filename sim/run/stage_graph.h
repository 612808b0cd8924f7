/** @file
 * Batches pass through the stages of a pipeline, each of which works on one batch at a time, and idle stages
 * take work of busy ones.
 *
 * The graph is data: every batch has its own pipeline. The store's callbacks state how many stages it has,
 * which processor does each stage, and what the stages take of the devices. Stages of batches with different
 * pipelines can therefore be under way together, such as while a store changes from one pipeline to another.
 *
 * A batch consists of units, which can be done in any order. Where another processor may take some (work
 * stealing), the owner of a stage does its batch piece by piece, where each piece is a fixed share of the
 * remaining units, so that few activities of the engine suffice for small pieces at the end. A processor
 * without a batch takes pieces of another stage's batch from the same units, if the store allows it. The
 * owner afterwards does those tasks of a unit that the thief cannot do.
 *
 * Stage 0 gets its batches from the store, which knows how many may be under way. While it waits for a time,
 * and not for a batch, it steals nothing. */
#ifndef KVC_SIM_RUN_STAGE_GRAPH_H
#define KVC_SIM_RUN_STAGE_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/ring.h"
#include "sim/engine.h"

enum {
    KVC_STAGE_GRAPH_MAX = 8,     /**< Most stages of a pipeline. */
    KVC_STAGE_GRAPH_PIECES = 16, /**< A piece is the remaining units over this number. */
};

/** The processor that does a piece of a stage's batch, and the part of its tasks. */
enum kvc_stage_piece {
    KVC_PIECE_WHOLE,  /**< The owner of the stage: all its tasks. */
    KVC_PIECE_STOLEN, /**< A thief: the tasks that it can do. */
    KVC_PIECE_REST,   /**< The owner: the other tasks of units that were stolen. */
};

/** Functions of the store for the graph. `data` belongs to the graph's owner, and `batch` comes from next():
 * the graph does not look into the store's batches. */
struct kvc_stage_graph_ops {
    /** Returns a batch that stage 0 can begin now. NULL: there is none before *until_ns, or, if that is
     * +infinity, before a batch is done. */
    void *(*next)(void *data, double *until_ns);
    /** A stage begins with a batch: does its tasks on the real structures. Returns the number of units. */
    uint32_t (*begin)(void *data, void *batch, uint32_t stage);
    /** Returns the stages of the batch's pipeline. */
    uint32_t (*stages)(const void *batch);
    /** Returns the number of the processor that does a stage of the batch. */
    uint32_t (*processor)(const void *batch, uint32_t stage);
    /** Returns whether another processor may take units of a stage. NULL: never. */
    bool (*may_steal)(const void *data, const void *batch, uint32_t stage, uint32_t processor);
    /** Returns how long a processor takes before its first piece of a stage's batch, its own or not, such as
     * to launch a kernel [ns]. */
    double (*approach_ns)(void *data, const void *batch, uint32_t stage, uint32_t processor);
    /** Sets the KVC_DRAWS_MAX draws on devices of `units` units of a stage; draws without an amount are
     * ignored. */
    void (*take)(void *data, const void *batch, uint32_t stage, enum kvc_stage_piece piece, uint32_t by,
                 uint32_t units, struct kvc_draw *draw);
    /** The worker `by` has done a piece of a stage since start_ns. */
    void (*worked)(void *data, const void *batch, uint32_t stage, enum kvc_stage_piece piece, uint32_t by,
                   uint32_t units, double start_ns);
    /** A stage has done the batch that it began at start_ns. */
    void (*ended)(void *data, void *batch, uint32_t stage, double start_ns);
    /** The batch has passed through all its stages. Afterwards, next() may return it again. */
    void (*done)(void *data, void *batch);
};

/** A stage, and the actor that works for it. */
struct kvc_stage_worker {
    struct kvc_stage_graph *graph; /**< The graph it belongs to. */
    uint32_t number;               /**< Number of its stage. */
    uint32_t processor;            /**< Processor of its latest batch; UINT32_MAX: it had none. */
    struct kvc_ring queue;         /**< Numbers of batches that wait for the stage. */
    struct kvc_gate *gate;     /**< Wakes it when a batch has come, or when there is something to steal. */
    bool idles;                /**< The worker waits at its gate. */
    bool called;               /**< A batch has come since it last looked. */
    uint64_t begun;            /**< Batches that it has begun. */
    void *batch;               /**< Under way; NULL: none. */
    uint32_t left;             /**< Units not taken yet. */
    uint32_t stolen;           /**< Pieces that thieves work on. */
    uint32_t rest;             /**< Units that thieves have done and whose other tasks the owner does. */
    struct kvc_gate *returned; /**< A token for each piece that a thief has done. */
};

/** A graph. The owner fills the first fields and opens it before the engine runs; it must stay where it is.
 */
struct kvc_stage_graph {
    const struct kvc_stage_graph_ops *ops;               /**< Functions of the store. */
    void *data;                                          /**< Handed to these functions. */
    uint32_t workers;                                    /**< Stages of the longest pipeline. */
    struct kvc_stage_worker worker[KVC_STAGE_GRAPH_MAX]; /**< Workers, indexed by stage. */
};

/** Creates the workers and their actors. */
void kvc_stage_graph_open(struct kvc_stage_graph *graph);

/** Frees the workers' contents after the engine has ended. A zeroed graph is allowed. */
void kvc_stage_graph_close(struct kvc_stage_graph *graph);

#endif
