/* What a real Mega-KV node does by window, and how far its cores are disturbed meanwhile.
 *
 * Every task counts from the beginning. When a window has passed, the thread of the task copies its counts,
 * so that the difference of two copies is what the task did in between. A copy is taken between two pieces of
 * work: a launch lies wholly between two copies, and a copy may be late by the length of a piece of work,
 * which is why it carries its time. */
#ifndef KVC_MODELS_MEGAKV_REAL_WINDOWS_H
#define KVC_MODELS_MEGAKV_REAL_WINDOWS_H

#include "models/megakv/real/node.h"
#include "sim/probes/watched.h"

/* Counts of a receiver up to the end of a window. */
struct kvc_megakv_real_received {
    struct kvc_megakv_real_task_time receive;
    bool caught_up; /* In this window. */
};

/* Counts of a sender up to the end of a window. */
struct kvc_megakv_real_sent {
    double at_ns; /* When the counts were copied [ns]. */
    struct kvc_megakv_real_task_time send;
    uint64_t completed, hits, misses, sets, deletes;
    double oldest_sent_ns;             /* In this window [ns]. */
    struct kvc_histogram_pack latency; /* In this window. */
};

/* Counts of the scheduler up to the end of a window. */
struct kvc_megakv_real_launched {
    double at_ns; /* When the counts were copied [ns]. */
    struct kvc_megakv_real_task_time search, insert;
    uint64_t search_launches, insert_launches, late_launches;
};

struct kvc_megakv_real_windows {
    struct kvc_watched watched;
    uint32_t pipelines;
    struct kvc_megakv_real_received *received[KVC_MEGAKV_REAL_PIPELINES_MAX]; /* By pipeline and window. */
    struct kvc_megakv_real_sent *sent[KVC_MEGAKV_REAL_PIPELINES_MAX];
    struct kvc_megakv_real_launched *launched; /* By window. */
};

/* Makes room for windows of `duration_ns`, and of several times as long in case that too few of them are
 * quiet. KVC_ERR_RUNTIME: memory is short. The windows must be closed even then. */
enum kvc_status kvc_megakv_real_windows_open(struct kvc_megakv_real_windows *windows, uint32_t pipelines,
                                             double duration_ns, struct kvc_diag *diag);
void kvc_megakv_real_windows_close(struct kvc_megakv_real_windows *windows); /* A zeroed one is allowed. */

/* Copy counts of a task into `copies`, which are windows. */
kvc_watched_copy_fn kvc_megakv_real_copy_received; /* `data` is a pipeline, and `number` its number. */
kvc_watched_copy_fn kvc_megakv_real_copy_sent;     /* Likewise. */
kvc_watched_copy_fn kvc_megakv_real_copy_launched; /* `data` is the node. */

#endif
