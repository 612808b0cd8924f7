/* The tasks of a real Mega-KV node: per pipeline a receiver and a sender, and one scheduler, on whose thread
 * the index runs where it has no device of its own. The simulated ones are in
 * models/megakv/{receiver,scheduler,sender}.c; these do the work.
 *
 * A buffer's way: the receiver fills it from packets (SETs go into the slabs at once); every cycle the
 * scheduler asks for it and searches; the sender reads the items, answers into a ring of memory and notes the
 * latencies; the receiver gets it back. Inserts and deletes run every `delay` cycles, behind the search. A
 * receiver without a free buffer keeps its own, so that the scheduler waits, as in the simulation.
 *
 * A task is a function that does one piece of work, if there is any, and returns at once: a core may have
 * several tasks. */
#ifndef KVC_MODELS_MEGAKV_REAL_PIPELINE_H
#define KVC_MODELS_MEGAKV_REAL_PIPELINE_H

#include <stdatomic.h>

#include "models/megakv/store.h"
#include "models/megakv/real/answer.h"
#include "models/megakv/real/buffer.h"
#include "models/megakv/real/device.h"
#include "models/megakv/real/feed.h"
#include "models/megakv/real/receive.h"
#include "sim/base/spsc_ring.h"

enum { KVC_MEGAKV_REAL_PIPELINES_MAX = 64, KVC_MEGAKV_REAL_BUFFERS_MAX = 16 };

/* What a task did while the measurement ran. */
struct kvc_megakv_real_task_time {
    double busy_ns;  /* working, not waiting */
    uint64_t served; /* requests */
};

struct kvc_megakv_real_node;

struct kvc_megakv_real_pipeline {
    struct kvc_megakv_real_node *node;
    struct kvc_megakv_real_feed feed;
    struct kvc_megakv_real_buffer buffers[KVC_MEGAKV_REAL_BUFFERS_MAX];
    struct kvc_spsc_ring free, filled, ready;
    atomic_uint swaps_asked; /* by the scheduler */

    _Alignas(64) struct kvc_megakv_real_task_time receive; /* from here on: the receiver's own */
    struct kvc_megakv_real_buffer *filling;
    struct kvc_megakv_real_frame_writes *writes; /* of the frame in hand */
    struct kvc_megakv_real_stock stock;
    unsigned swaps;
    uint32_t frame;    /* the next of the feed */
    double lap_ns;     /* when the feed began this time */
    uint64_t received; /* in all */
    uint64_t rejected; /* SETs without memory */
    struct kvc_megakv_slab_stats receive_stats;

    _Alignas(64) struct kvc_megakv_real_task_time send; /* from here on: the sender's own */
    struct kvc_megakv_real_buffer *sending;
    uint32_t sent; /* of its GETs */
    struct kvc_megakv_real_answerer answerer;
};

struct kvc_megakv_real_node {
    struct kvc_megakv_shard *shard;
    bool on_gpu; /* its index */
    double cycle_ns;
    uint64_t delay;
    bool saturating;
    bool shared;                        /* the scheduler's core has all receivers */
    uint32_t receive_cores, send_cores; /* that do so */
    uint32_t count;                     /* of pipelines */
    struct kvc_megakv_real_pipeline *pipeline[KVC_MEGAKV_REAL_PIPELINES_MAX];
    double started_s;         /* wall clock that all times count from */
    double from_ns, until_ns; /* the measured part */
    atomic_bool stop;
    atomic_bool failed; /* the index's device; answers since are misses */
    struct kvc_megakv_real_device_queues *queues;

    /* from here on: the scheduler's own */
    double due_ns; /* the next cycle */
    uint64_t cycle;
    bool collecting; /* it has come: buffers are on their way */
    uint32_t collected;
    struct kvc_megakv_real_buffer *buffers[KVC_MEGAKV_REAL_PIPELINES_MAX];
    struct kvc_megakv_real_task_time search, insert;
    uint64_t search_launches, insert_launches; /* within the measured time */
    uint64_t late_launches;                    /* more than a tenth of a cycle */
    double stalled_ns; /* of the measured time, threads with nothing to do were kept from running */
    /* index jobs that wait for their cycle */
    uint32_t inserts, erases, writes_room;
    uint64_t *insert_hash, *erase_hash;
    uint32_t *insert_location, *erase_location, *erased;
};

/* One piece of a task's work; false: there was none. */
typedef bool kvc_megakv_real_task_fn(void *data);

bool kvc_megakv_real_receiver_step(void *pipeline); /* a frame */
bool kvc_megakv_real_scheduler_step(void *node);    /* a cycle, or nothing */
bool kvc_megakv_real_sender_step(void *pipeline);   /* some rows */

/* The scheduler's pieces: takes the index jobs of a buffer to those that wait; searches the GETs of all
 * buffers, one of each pipeline, and takes their jobs meanwhile. All results arrive together, as in the
 * simulation. */
void kvc_megakv_real_drain_writes(struct kvc_megakv_real_node *node,
                                  const struct kvc_megakv_real_buffer *buffer);
void kvc_megakv_real_search_buffers(struct kvc_megakv_real_node *node,
                                    struct kvc_megakv_real_buffer **buffers);

/* The index jobs that wait, if there are any. */
void kvc_megakv_real_insert_waiting(struct kvc_megakv_real_node *node);

/* Opens the node of a scenario over a preloaded shard, with feeds of the scenario's load of up to feed_bytes
 * for each pipeline. KVC_ERR_RUNTIME: memory. KVC_ERR_SCENARIO: an arrival that cannot be played. Close it in
 * any case. */
enum kvc_status kvc_megakv_real_node_open(struct kvc_megakv_real_node *node,
                                          const struct kvc_scenario *scenario, struct kvc_megakv_shard *shard,
                                          bool on_gpu, uint64_t feed_bytes, struct kvc_diag *diag);
void kvc_megakv_real_node_close(struct kvc_megakv_real_node *node); /* a zeroed one is allowed */

#endif
