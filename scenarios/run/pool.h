/* Runs numbered tasks in forked children, at most `jobs` at a time, and hands their answers back in task
 * order.
 *
 * An answer is a flat struct that comes back through a pipe. Answers are taken strictly in task order,
 * whatever order the children end in, so that nothing downstream depends on the number of jobs. The first
 * task that fails ends the others. */
#ifndef KVC_SCENARIOS_RUN_POOL_H
#define KVC_SCENARIOS_RUN_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/model.h"
#include "sim/base/diag.h"

struct kvc_pool_options {
    uint32_t tasks;
    uint32_t jobs;       /* at least 1 */
    size_t answer_bytes; /* may be 0 */
    const char *noun;    /* what one task is called in messages: "replica", "point" */
    void *data;          /* handed to the functions below */

    /* In the child. `answer` comes zeroed. */
    enum kvc_status (*body)(void *data, uint32_t task, const struct kvc_progress *progress, void *answer,
                            struct kvc_diag *diag);
    /* In the parent: what the task will take. It starts beside others only while all of them fit into
     * available_bytes (0: unknown, any number does), alone in any case. NULL: nothing to speak of. */
    double (*memory_bytes)(const void *data, uint32_t task);
    double available_bytes;
    /* In the parent, in task order; NULL: the answers are not needed. */
    enum kvc_status (*take)(void *data, uint32_t task, const void *answer, struct kvc_diag *diag);
};

/* Reports the progress of all tasks together. */
enum kvc_status kvc_pool_run(const struct kvc_pool_options *pool, const struct kvc_progress *progress,
                             struct kvc_diag *diag);

/* How many processors this process may use. */
uint32_t kvc_pool_processors(void);

#endif
