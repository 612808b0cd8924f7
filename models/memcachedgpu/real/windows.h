/* What a real MemcachedGPU node does by window, and how far its cores are disturbed meanwhile.
 *
 * When a window has passed, the thread of a task copies its counts, so that the difference of two copies is
 * what the task did in between. A copy is taken between two batches and carries its time. */
#ifndef KVC_MODELS_MEMCACHEDGPU_REAL_WINDOWS_H
#define KVC_MODELS_MEMCACHEDGPU_REAL_WINDOWS_H

#include "models/memcachedgpu/real/node.h"
#include "sim/probes/watched.h"

/* Counts of GNoM-pre up to the end of a window. */
struct kvc_memcachedgpu_real_begun {
    struct kvc_memcachedgpu_real_time pre;
};

/* Counts of a GNoM-post thread up to the end of a window. */
struct kvc_memcachedgpu_real_ended {
    double at_ns; /* When the counts were copied [ns]. */
    struct kvc_memcachedgpu_real_time post;
    uint64_t answered, hits, kernels;
    double in_flight_ns, kernel_ns;
    double oldest_begun_ns;            /* In this window [ns]. */
    struct kvc_histogram_pack latency; /* In this window. */
};

struct kvc_memcachedgpu_real_windows {
    struct kvc_watched watched;
    uint32_t posts;
    struct kvc_memcachedgpu_real_begun *begun;                                  /* By window. */
    struct kvc_memcachedgpu_real_ended *ended[KVC_MEMCACHEDGPU_REAL_POSTS_MAX]; /* By thread and window. */
};

/* Makes room for windows of `duration_ns`, and of several times as long in case that too few of them are
 * quiet. KVC_ERR_RUNTIME: memory is short. The windows must be closed even then. */
enum kvc_status kvc_memcachedgpu_real_windows_open(struct kvc_memcachedgpu_real_windows *windows,
                                                   uint32_t posts, double duration_ns, struct kvc_diag *diag);
void kvc_memcachedgpu_real_windows_close(struct kvc_memcachedgpu_real_windows *windows);

/* Copy counts of a task into `copies`, which are windows. */
kvc_watched_copy_fn kvc_memcachedgpu_real_copy_begun; /* `data` is the node. */
kvc_watched_copy_fn kvc_memcachedgpu_real_copy_ended; /* `data` is a thread, and `number` its number. */

#endif
