/* A real MemcachedGPU node that reads its packets from memory: the table on the GPU, values in host memory, a
 * GNoM-pre thread that copies batches to the GPU and launches the GET kernel, and GNoM-post threads that wait
 * for batches and build the responses.
 *
 * GNoM-pre takes a free lane, copies the packets of the next prepared batch, launches the kernel, begins to
 * copy results and heads back, and records an event. A GNoM-post thread receives lanes in the order of their
 * launches; it polls the event of the oldest one, copies head and value of each response into a frame, and
 * gives the lane back. Batches go to the GNoM-post threads in turn. No NIC takes part: the frames stay where
 * they are.
 *
 * Every task keeps counts since the beginning of the run; models/measured/measured.h copies them. */
#ifndef KVC_MODELS_MEMCACHEDGPU_REAL_NODE_H
#define KVC_MODELS_MEMCACHEDGPU_REAL_NODE_H

#include <stdatomic.h>

#include "kernels/memcachedgpu/background_cuda.h"
#include "models/memcachedgpu/real/answer.h"
#include "models/memcachedgpu/real/lane.h"
#include "models/memcachedgpu/real/params.h"
#include "sim/base/progress.h"
#include "sim/base/spsc_ring.h"
#include "sim/metrics/histogram.h"
#include "sim/scenario.h"

/* The work of a task. */
struct kvc_memcachedgpu_real_time {
    double busy_ns;   /* Time spent working, not waiting [ns]. */
    uint64_t batches; /* Batches served. */
};

struct kvc_memcachedgpu_real_node;

/* A GNoM-post thread. */
struct kvc_memcachedgpu_real_post {
    struct kvc_memcachedgpu_real_node *node;
    struct kvc_spsc_ring launched; /* Lanes from GNoM-pre, in the order of their launches. */
    struct kvc_spsc_ring free;     /* Lanes to return to GNoM-pre. */

    /* Only the thread uses the fields from here on. */
    _Alignas(64) struct kvc_memcachedgpu_real_answerer answerer;
    struct kvc_memcachedgpu_real_lane *waited; /* The lane whose event is polled. */
    struct kvc_memcachedgpu_real_time time;
    double in_flight_ns;    /* Sum over batches of the time from the copy to the response [ns]. */
    double kernel_ns;       /* Sum over the batches whose kernels wrote clocks [ns]. */
    uint64_t kernels;       /* Number of these batches. */
    double oldest_begun_ns; /* Earliest start of a batch since the last copy of the counts [ns]. */
    /* Latencies since the last copy of the counts, from the copy to the response [ns]. */
    struct kvc_histogram *latency;
};

struct kvc_memcachedgpu_real_node {
    struct kvc_memcachedgpu_real_params params;
    struct kvc_index *index;
    struct kvc_memcachedgpu_real_slabs slabs;
    struct kvc_memcachedgpu_real_layout layout;
    uint8_t *images; /* Prepared batches, in pinned host memory. */
    uint64_t image_count;
    struct kvc_memcachedgpu_real_lane lane[KVC_MEMCACHEDGPU_REAL_STREAMS_MAX];
    struct kvc_memcachedgpu_get_clock *clocks; /* One array for each lane, in pinned host memory. */
    struct kvc_memcachedgpu_real_post post[KVC_MEMCACHEDGPU_REAL_POSTS_MAX];
    struct kvc_background *background;
    struct kvc_cuda_stream *background_stream;
    struct kvc_cuda_event *background_end;
    uint32_t background_rounds;
    double background_begun_ns, background_ended_ns; /* NaN: not yet [ns]. */
    double preload_wall_s;
    double started_s;   /* Wall clock at time 0 [s]. */
    double from_ns;     /* Start of the measured time [ns]. */
    atomic_bool failed; /* The device has failed. */

    /* Only GNoM-pre uses the fields from here on. */
    _Alignas(64) uint64_t begun; /* Batches. */
    struct kvc_memcachedgpu_real_lane *idle[KVC_MEMCACHEDGPU_REAL_STREAMS_MAX];
    uint32_t idle_count;
    uint32_t now; /* Timestamp of the next batch. */
    struct kvc_memcachedgpu_real_time pre;
};

/* Opens a node: fills the table and the slabs with the preloaded keys of the scenario, and prepares batches
 * of its GETs. Returns KVC_ERR_RUNTIME if there is no GPU, it fails, or memory is short. It must be closed in
 * any case; a zeroed one is allowed. */
enum kvc_status kvc_memcachedgpu_real_node_open(struct kvc_memcachedgpu_real_node *node,
                                                const struct kvc_scenario *scenario,
                                                const struct kvc_memcachedgpu_real_params *params,
                                                const struct kvc_progress *progress, struct kvc_diag *diag);
void kvc_memcachedgpu_real_node_close(struct kvc_memcachedgpu_real_node *node);

/* Starts the clock of the node. */
void kvc_memcachedgpu_real_node_start(struct kvc_memcachedgpu_real_node *node, double from_ns);

/* Sets time 0 of the clock of the node, while no task runs [s]. */
void kvc_memcachedgpu_real_node_set_clock(struct kvc_memcachedgpu_real_node *node, double started_s);

/* Returns the time since the node was started [ns]. */
double kvc_memcachedgpu_real_node_ns(const struct kvc_memcachedgpu_real_node *node);

/* Each function does one piece of a task's work and returns the time at which it ended [ns], or 0 if there
 * was nothing to do. */
double kvc_memcachedgpu_real_pre_step(void *node);  /* one batch */
double kvc_memcachedgpu_real_post_step(void *post); /* one batch */

/* Waits for all batches in flight, after the threads have ended. Returns false if the device failed. */
bool kvc_memcachedgpu_real_node_drain(struct kvc_memcachedgpu_real_node *node);

#endif
