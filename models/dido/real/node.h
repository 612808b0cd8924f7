/* A real node of DIDO: its store, its batches, and the stages of its pipeline with their threads.
 *
 * A thread of a stage takes the next set of the stage's batch, does the stage's tasks for it, and comes back.
 * The thread that does the last set hands the batch on by pointer and lets the stage open the next one. So a
 * stage has one batch at a time, and a task sees all that earlier stages have done. There is one batch more
 * than there are stages, so that a stage that is done early can go on. The stage on the GPU has one thread,
 * which launches the kernels for a batch as a whole and asks for their end. */
#ifndef KVC_MODELS_DIDO_REAL_NODE_H
#define KVC_MODELS_DIDO_REAL_NODE_H

#include "models/dido/config.h"
#include "models/dido/real/gpu.h"
#include "models/dido/real/work.h"
#include "models/shards/feed.h"
#include "models/shards/store.h"
#include "sim/base/spsc_ring.h"
#include "sim/metrics/histogram.h"

enum {
    KVC_DIDO_REAL_WORKERS_MAX = 64,
    /* Packets of a measurement [bytes]: they do not fit the caches, and keys return too late for CLOCK to
     * favour them. */
    KVC_DIDO_REAL_FEED_BYTES = 128 << 20,
};

struct kvc_dido_real_stage {
    struct kvc_dido_stage stage;
    uint32_t number;
    struct kvc_spsc_ring in; /* Batches from the stage before; the first stage gets free ones. */
    struct kvc_spsc_ring *out;
    _Alignas(64) atomic_bool occupied;  /* A batch is being opened, or is worked on. */
    _Alignas(64) atomic_ullong ticket;  /* Sets of the batch in the high half, those taken in the low half. */
    _Alignas(64) atomic_uint sets_done; /* Sets of the batch. */
    struct kvc_dido_real_batch *batch;  /* Valid for a worker that holds a set of it. */
};

/* A thread of a stage. */
struct kvc_dido_real_worker {
    _Alignas(128) struct kvc_dido_real_node *node; /* No two threads write to a line or to its neighbour. */
    struct kvc_dido_real_stage *stage;
    struct kvc_dido_real_bench bench;
    double busy_ns;         /* Time spent working, not waiting [ns]. */
    uint64_t served;        /* Queries of its sets. */
    uint64_t sets;          /* Number of sets. */
    uint64_t batches;       /* Batches that it has taken out of the pipeline. */
    uint64_t batch_queries; /* Queries of these batches. */
    double period_ns;       /* Sum of the times of the slowest stages of these batches [ns]. */
    double oldest_sent_ns;  /* Earliest send time of an answered query; the measurement resets it [ns]. */
    bool caught_up;         /* RV has found that no frame was due; the measurement resets it. */
    atomic_ullong seen_ns;  /* When it was last seen to run [ns]. */
    struct kvc_histogram *latency;
    double *sent_ns, *done_ns; /* Times of the queries of a set [ns]. */
    double launched_ns;        /* When it gave the stage's batch to the GPU [ns]; 0: the GPU has none. */
};

struct kvc_dido_real_node {
    struct kvc_dido_real_store store;
    struct kvc_shards_feed feed;
    struct kvc_dido_real_gpu *gpu; /* NULL: no stage is on the GPU. */
    atomic_bool failed;            /* The GPU has failed. */
    uint32_t stages, workers, batches;
    struct kvc_dido_real_stage stage[KVC_DIDO_STAGES_MAX];
    struct kvc_dido_real_worker worker[KVC_DIDO_REAL_WORKERS_MAX];
    struct kvc_dido_real_batch *batch[KVC_DIDO_STAGES_MAX + 1];
    bool saturating;    /* Clients always have the next request ready. */
    double interval_ns; /* Longest time of a stage. */
    atomic_uint
        batch_queries;   /* Queries of the next batch, which the last stage sizes under saturating clients. */
    double started_s;    /* Wall clock at time 0 [s]. */
    double ticks_from_s; /* When ticks began to count [s]. */
    uint64_t ticks_from; /* The clock of the tasks then. */

    atomic_ullong disturbed_ns; /* When a thread last came back after it was kept from running [ns]. */

    /* Only the last stage uses the fields from here on, which track consecutive batches during which all
     * threads could run. */
    bool was_undisturbed;
    double finished_ns;    /* When the last batch left the pipeline [ns]. */
    double undisturbed_ns; /* Sum of the times from one such batch to the next [ns]. */
    uint64_t undisturbed_queries;

    /* Only RV uses the fields from here on. */
    uint32_t next_frame;
    double lap_ns;     /* When the feed began its current lap [ns]. */
    double due_ns;     /* When the next batch may begin, if clients do not saturate [ns]. */
    uint64_t received; /* Queries received in all. */
};

/* Returns the number of threads of a stage, which is 1 for a stage on the GPU. */
static inline uint32_t kvc_dido_real_stage_workers(const struct kvc_dido_stage *stage)
{
    return stage->on_gpu ? 1 : stage->cores;
}

/* Returns the number of threads of a pipeline with stated cores. */
uint32_t kvc_dido_real_workers(const struct kvc_dido_pipeline *pipeline);

void kvc_dido_real_node_free(struct kvc_dido_real_node *node); /* NULL is allowed. */

/* Creates the node of a scenario over a preloaded shard, with a feed of the scenario's load of up to
 * `feed_bytes`. The pipeline has at most KVC_DIDO_REAL_WORKERS_MAX threads, and kvc_dido_real_gpu_check()
 * allows it. Returns NULL with KVC_ERR_RUNTIME if memory is short for the feed or the GPU refuses to share
 * the store, and with KVC_ERR_SCENARIO for an arrival that cannot be played. */
struct kvc_dido_real_node *kvc_dido_real_node_create(const struct kvc_scenario *scenario,
                                                     struct kvc_shard *shard, uint64_t feed_bytes,
                                                     struct kvc_diag *diag);

/* Starts the clock of the node. */
void kvc_dido_real_node_start(struct kvc_dido_real_node *node);

/* Sets time 0 of the clock of the node, while no task runs [s]. */
void kvc_dido_real_node_set_clock(struct kvc_dido_real_node *node, double started_s);

/* Returns the time of a task so far, summed over the threads, in ticks, and the length of a tick [ns]. */
uint64_t kvc_dido_real_task_ticks(const struct kvc_dido_real_node *node, enum kvc_dido_task task);
double kvc_dido_real_tick_ns(const struct kvc_dido_real_node *node);

/* Adds the GPU's counts to its worker's, while no batch is in flight. Returns false if the GPU has failed. */
bool kvc_dido_real_node_count(struct kvc_dido_real_node *node);

/* Does a set, opens a batch, or polls the batch on the GPU, for the worker `data`. Returns the time at which
 * this ended [ns], or 0 if there was nothing to do. */
double kvc_dido_real_step(void *data);

#endif
