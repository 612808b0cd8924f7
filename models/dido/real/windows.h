/* What the threads of a real node of DIDO do by window, and how far their cores are disturbed meanwhile.
 *
 * Every thread counts from the beginning and copies its counts when a window has passed, so that the
 * difference of two copies is what it did in between. */
#ifndef KVC_MODELS_DIDO_REAL_WINDOWS_H
#define KVC_MODELS_DIDO_REAL_WINDOWS_H

#include "models/dido/real/node.h"
#include "sim/probes/watched.h"

/* Counts of a thread up to the end of a window. */
struct kvc_dido_real_worked {
    double at_ns; /* When the counts were copied [ns]. */
    double busy_ns, period_ns;
    uint64_t served, batches, batch_queries;
    struct kvc_dido_real_counts counts;
    bool caught_up;                    /* In this window. */
    double oldest_sent_ns;             /* In this window [ns]. */
    struct kvc_histogram_pack latency; /* In this window. */
};

struct kvc_dido_real_windows {
    struct kvc_watched watched;
    uint32_t workers;
    struct kvc_dido_real_worked *worked[KVC_DIDO_REAL_WORKERS_MAX]; /* By thread and window. */
};

/* Makes room for windows of `duration_ns`, and of several times as long in case that too few of them are
 * quiet. Ends the program if memory is short. */
void kvc_dido_real_windows_open(struct kvc_dido_real_windows *windows, uint32_t workers, double duration_ns);
void kvc_dido_real_windows_close(struct kvc_dido_real_windows *windows); /* A zeroed one is allowed. */

/* Runs the threads of the node, each on a core of its own, until enough windows from from_ns on are quiet or
 * there is no room for more. Returns KVC_ERR_RUNTIME if a thread cannot be started or memory is short. */
enum kvc_status kvc_dido_real_windows_run(struct kvc_dido_real_windows *windows,
                                          struct kvc_dido_real_node *node, double from_ns,
                                          const struct kvc_progress *progress, struct kvc_diag *diag);

#endif
