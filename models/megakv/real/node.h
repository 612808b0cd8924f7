/* A real Mega-KV node: its pipelines with their buffers and feeds, and the scheduler's state. The tasks that
 * work on it are in pipeline.h. */
#ifndef KVC_MODELS_MEGAKV_REAL_NODE_H
#define KVC_MODELS_MEGAKV_REAL_NODE_H

#include <stdatomic.h>

#include "models/megakv/real/answer.h"
#include "models/megakv/real/buffer.h"
#include "models/megakv/real/device.h"
#include "models/shards/feed.h"
#include "models/megakv/real/receive.h"
#include "models/shards/store.h"
#include "sim/base/spsc_ring.h"

enum { KVC_MEGAKV_REAL_PIPELINES_MAX = 64, KVC_MEGAKV_REAL_BUFFERS_MAX = 16 };

/* The work of a task within the measured time. */
struct kvc_megakv_real_task_time {
    double busy_ns;  /* Time spent working, not waiting [ns]. */
    uint64_t served; /* Requests served. */
};

struct kvc_megakv_real_node;

struct kvc_megakv_real_pipeline {
    struct kvc_megakv_real_node *node;
    struct kvc_shards_feed feed;
    struct kvc_megakv_real_buffer buffers[KVC_MEGAKV_REAL_BUFFERS_MAX];
    struct kvc_spsc_ring free;   /* Buffers from the sender to the receiver. */
    struct kvc_spsc_ring filled; /* Buffers from the receiver to the scheduler. */
    struct kvc_spsc_ring ready;  /* Searched buffers from the scheduler to the sender. */
    /* Number of times that the scheduler has asked the receiver for its buffer. */
    atomic_uint swaps_asked;

    /* Only the receiver uses the fields from here on. */
    _Alignas(64) struct kvc_megakv_real_task_time receive;
    struct kvc_megakv_real_buffer *filling;
    struct kvc_megakv_real_frame_writes *writes; /* SETs and DELETEs of the current frame. */
    struct kvc_megakv_real_stock stock;
    unsigned swaps;    /* Number of times that it has handed over its buffer. */
    uint32_t frame;    /* Next frame of the feed. */
    double lap_ns;     /* When the feed began its current lap [ns]. */
    uint64_t received; /* Requests received in all. */
    uint64_t rejected; /* SETs that found no memory. */
    /* The receiver has found that no request was due; the observer of the pipeline resets this. */
    bool caught_up;
    struct kvc_megakv_slab_stats receive_stats;

    /* Only the sender uses the fields from here on. */
    _Alignas(64) struct kvc_megakv_real_task_time send;
    struct kvc_megakv_real_buffer *sending;
    uint32_t sent; /* GETs of `sending` that are answered. */
    struct kvc_megakv_real_answerer answerer;

    /* Rows of all buffers that the sender has given back. The scheduler asks for it again and again. */
    _Alignas(64) atomic_ullong sent_rows;
};

struct kvc_megakv_real_node {
    struct kvc_shard *shard;
    bool on_gpu; /* Whether the index is on the GPU. */
    uint64_t hash_seed;
    double cycle_ns;
    uint64_t delay;                     /* Inserts and deletes run every `delay` cycles. */
    bool saturating;                    /* Clients always have the next request ready. */
    bool shared;                        /* All receivers share the scheduler's core. */
    uint32_t receive_cores, send_cores; /* Cores that receive and cores that send. */
    uint32_t count;                     /* Pipelines. */
    struct kvc_megakv_real_pipeline *pipeline[KVC_MEGAKV_REAL_PIPELINES_MAX];
    double started_s;         /* Wall clock at time 0 [s]. */
    double from_ns, until_ns; /* The measured time [ns]. */
    atomic_bool failed;       /* The index's device has failed; answers since then are misses. */
    struct kvc_megakv_real_device_queues *queues;

    /* Only the scheduler uses the fields from here on. */
    double due_ns; /* When the next cycle is due [ns]. */
    uint64_t cycle;
    bool overran;         /* The latest launch, which on shared threads took longer than a cycle. */
    uint64_t handed_rows; /* Rows of all buffers that it has given to the senders. */
    bool collecting;      /* A cycle has begun, and the scheduler waits for the pipelines' buffers. */
    uint32_t collected;   /* Buffers of this cycle that have arrived. */
    struct kvc_megakv_real_buffer *buffers[KVC_MEGAKV_REAL_PIPELINES_MAX];
    struct kvc_megakv_real_task_time search, insert;
    uint64_t search_launches, insert_launches; /* Launches within the measured time. */
    uint64_t late_launches;                    /* Launches that were late by more than a tenth of a cycle. */
    /* Index jobs that wait for their cycle. */
    uint32_t inserts, erases, writes_room;
    uint64_t *insert_hash, *erase_hash;
    uint32_t *insert_location, *erase_location, *erased;
};

/* Opens the node of a scenario over a preloaded shard, with feeds of the scenario's load of up to
 * `feed_bytes` for each pipeline. Returns KVC_ERR_RUNTIME if memory is short, and KVC_ERR_SCENARIO for an
 * arrival that cannot be played. The node must be closed even after an error. */
enum kvc_status kvc_megakv_real_node_open(struct kvc_megakv_real_node *node,
                                          const struct kvc_scenario *scenario, struct kvc_shard *shard,
                                          bool on_gpu, uint64_t feed_bytes, struct kvc_diag *diag);
void kvc_megakv_real_node_close(struct kvc_megakv_real_node *node); /* A zeroed node is allowed. */

/* Starts the clock of the node and of its senders, and sets the measured time [ns]. */
void kvc_megakv_real_node_start(struct kvc_megakv_real_node *node, double from_ns, double until_ns);

/* Sets time 0 of the clock of the node and of its senders, while no task runs [s]. */
void kvc_megakv_real_node_set_clock(struct kvc_megakv_real_node *node, double started_s);

#endif
