/* The threads of a watched run: one for each core, pinned to it, which runs the tasks of that core in turn
 * and watches the core meanwhile. */
#ifndef KVC_SIM_PROBES_WATCHED_THREADS_H
#define KVC_SIM_PROBES_WATCHED_THREADS_H

#include <stdatomic.h>

#include "sim/base/progress.h"
#include "sim/probes/watched.h"

/* Does one piece of a task's work, if there is any. Returns the time at which it ended [ns], or 0 if there
 * was none. */
typedef double kvc_watched_step_fn(void *data);

/* Copies the counts of a task at the end of the windows first .. last. A copy is taken between two pieces of
 * work, so that a piece lies wholly between two copies; it may be late by the length of a piece of work,
 * which is why it has the time at_ns. */
typedef void kvc_watched_copy_fn(void *copies, void *data, uint32_t number, uint32_t first, uint32_t last,
                                 double at_ns);

/* A task of a core. */
struct kvc_watched_task {
    uint32_t core; /* From 0. */
    kvc_watched_step_fn *step;
    kvc_watched_copy_fn *copy;
    void *data;      /* For both functions. */
    uint32_t number; /* For copy(). */
};

/* The tasks of a run. All times count from started_s. */
struct kvc_watched_tasks {
    const struct kvc_watched_task *task; /* Each core has at least one, and they take turns in this order. */
    uint32_t count;
    uint32_t cores;
    double started_s;          /* Wall clock at time 0 [s]. */
    double from_ns;            /* When the first window begins [ns]. */
    const atomic_bool *failed; /* A task sets it to end the run early. */
    void *copies;              /* For copy(). */
};

/* Runs the tasks on the first cores of the process until enough windows are quiet or there is no room for
 * more. Opens the watches of a planned run. KVC_ERR_RUNTIME: a thread cannot be started, or memory is short.
 */
enum kvc_status kvc_watched_threads_run(struct kvc_watched *watched, const struct kvc_watched_tasks *tasks,
                                        const struct kvc_progress *progress, struct kvc_diag *diag);

#endif
