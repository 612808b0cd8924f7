/* The threads of a real Mega-KV node: per pipeline a receiver and a sender, and one scheduler that is also
 * the index's device. The simulated ones are in models/megakv/{receiver,scheduler,sender}.c; these do the
 * work.
 *
 * A buffer's way: the receiver fills it from packets (SETs go into the slabs at once); every cycle the
 * scheduler asks for it and searches; the sender reads the items, answers into a ring of memory and notes the
 * latencies; the receiver gets it back. Inserts and deletes run every `delay` cycles, behind the search. A
 * receiver without a free buffer keeps its own, so that the scheduler waits, as in the simulation. */
#ifndef KVC_VALIDATE_MEASURE_PIPELINE_H
#define KVC_VALIDATE_MEASURE_PIPELINE_H

#include <stdatomic.h>

#include "models/megakv/store.h"
#include "sim/metrics/histogram.h"
#include "validate/measure/buffer.h"
#include "validate/measure/device.h"
#include "validate/measure/feed.h"
#include "validate/measure/ring.h"

enum {
    KVC_PIPELINES_MAX = 64,
    KVC_PIPELINE_BUFFERS_MAX = 16,
    KVC_ANSWER_ROWS_MAX = 256,
    KVC_ANSWER_BYTES = 16 << 20, /* that a sender copies values into */
};

/* What a thread did while the measurement ran. */
struct kvc_thread_time {
    double busy_ns;  /* working, not waiting */
    uint64_t served; /* requests */
};

struct kvc_node_threads;

struct kvc_real_pipeline {
    struct kvc_node_threads *node;
    struct kvc_feed feed;
    struct kvc_buffer buffers[KVC_PIPELINE_BUFFERS_MAX];
    struct kvc_ring free, filled, ready;
    atomic_uint swaps_asked; /* by the scheduler */

    struct kvc_thread_time receive, send;
    struct kvc_slab_stats receive_stats, send_stats;
    struct kvc_histogram *latency;
    uint64_t received;                               /* in all */
    uint64_t answered;                               /* in all */
    uint64_t completed, hits, misses, sets, deletes; /* within the measured time */
    uint64_t wrong;                                  /* values that are not their key's */
    uint64_t rejected;                               /* SETs without memory */
};

struct kvc_node_threads {
    struct kvc_megakv_shard *shard;
    bool on_gpu; /* its index */
    double cycle_ns;
    uint64_t delay;
    bool saturating;
    uint32_t count;   /* of pipelines */
    bool share_cores; /* fewer cores than threads: who waits lets others run */
    uint32_t
        answer_rows; /* answered together, up to KVC_ANSWER_ROWS_MAX: their values fit KVC_ANSWER_BYTES */
    struct kvc_real_pipeline *pipeline[KVC_PIPELINES_MAX];
    double started_s;         /* wall clock that all times count from */
    double from_ns, until_ns; /* the measured part */
    atomic_bool stop;
    atomic_bool failed; /* the index's device; answers since are misses */
    struct kvc_device_queues *queues;

    struct kvc_thread_time search, insert;
    uint64_t search_launches, insert_launches; /* within the measured time */
    uint64_t late_launches;                    /* more than a tenth of a cycle */
    /* index jobs that wait for their cycle */
    uint32_t inserts, erases, writes_room;
    uint64_t *insert_hash, *erase_hash;
    uint32_t *insert_location, *erase_location;
    uint64_t *scratch_hash;
    uint32_t *scratch_row, *scratch_location;
};

/* Bodies of the threads; they end when `stop` is set. */
void *kvc_receiver_thread(void *pipeline);
void *kvc_scheduler_thread(void *node);
void *kvc_sender_thread(void *pipeline);

#endif
